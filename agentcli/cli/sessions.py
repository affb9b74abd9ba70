"""`agentcli sessions`."""

from datetime import datetime
from pathlib import Path

from agentcli.config.paths import sessions_folder
from agentcli.headless.transcript import transcript_lines
from agentcli.runtime.session_choice import working_folder
from agentcli.sessions.repo import JsonlSessionRepo, SessionInfo


def print_list(all_: bool, cwd: Path | None) -> None:
    folder = working_folder(cwd)
    infos = JsonlSessionRepo(sessions_folder()).list(None if all_ else folder)
    for info in infos:
        print(_row(info, all_))
    if not infos:
        print("no sessions yet" if all_ else f"no sessions in {folder} yet (--all lists those of every folder)")


def print_session(reference: str) -> None:
    repo = JsonlSessionRepo(sessions_folder())
    session = repo.read(repo.find(reference))
    for line in transcript_lines(session.build_context().messages):
        print(line)
    session.close()


def _row(info: SessionInfo, with_folder: bool) -> str:
    when = datetime.fromtimestamp(info.modified / 1000).strftime("%Y-%m-%d %H:%M")
    folder = f"  {info.cwd}" if with_folder else ""
    return f"{info.id[:13]}  {when}{folder}  {info.name or info.first_message or '(empty)'}"
