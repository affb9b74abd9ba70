"""`agentcli sessions …`: what the commands call, and what they print."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.agent.errors import SessionError, UsageError
from agentcli.agent.text import one_line, printable
from agentcli.config.paths import require_home, sessions_folder
from agentcli.runtime.session_choice import working_folder
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session

if TYPE_CHECKING:
    from agentcli.runtime.runtime import RuntimeOptions


def _repo() -> JsonlSessionRepo:
    require_home()
    return JsonlSessionRepo(sessions_folder())


def _find(reference: str) -> Path:
    return _repo().find(reference, Path.cwd())


def _to_read(reference: str) -> Session:
    return _repo().read(_find(reference))


def _to_change(reference: str) -> Session:
    session = _repo().open(_find(reference))
    for notice in session.storage.notices:
        print(f"agentcli: {printable(notice)}", file=sys.stderr)
    return session


def print_list(all_: bool, cwd: Path | None, search: str | None, as_json: bool) -> None:
    from agentcli.headless.session_lines import hit_text, list_json, list_row

    folder = working_folder(cwd)
    infos = _repo().list(None if all_ else folder)
    if search is not None:
        from agentcli.sessions.search import search_sessions

        hits = search_sessions(infos, search)
        infos = [hit.info for hit in hits]
        if not as_json:
            for hit in hits:
                print(hit_text(hit, with_folder=all_, colour=sys.stdout.isatty()))
            if not hits:
                print(f"no session holds {search!r}" + ("" if all_ else f" in {folder} (--all searches every folder)"))
            return
    if as_json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode([list_json(info) for info in infos])).decode())
        return
    for info in infos:
        print(list_row(info, with_folder=all_))
    if not infos:
        print("no sessions yet" if all_ else f"no sessions in {folder} yet (--all lists those of every folder)")


def print_session(reference: str) -> None:
    from agentcli.headless.transcript import transcript_lines

    session = _to_read(reference)
    for line in transcript_lines(session.build_context().messages):
        print(line)
    session.close()


def print_session_tree(reference: str, everything: bool) -> None:
    from agentcli.headless.session_lines import print_tree

    session = _to_read(reference)
    print_tree(session, everything=everything)
    session.close()


def print_stats(reference: str, as_json: bool) -> None:
    from agentcli.sessions.stats import stats_lines

    session = _to_read(reference)
    stats = session.get_stats()
    if as_json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(stats)).decode())
    else:
        for line in stats_lines(session, stats):
            print(line)
    session.close()


def fork(reference: str, at: str | None, before: str | None, cwd: Path | None) -> None:
    if at is not None and before is not None:
        raise UsageError("--at and --before exclude each other", hint="give one of them")
    source = _find(reference)
    entry_id: str | None = None
    if (part := at or before) is not None:
        session = _repo().read(source)
        entry_id = session.storage.find_id(part)
        session.close()
    position = "at" if at is not None else "before"
    forked = _repo().fork(source, entry_id=entry_id, position=position, cwd=working_folder(cwd) if cwd else None)
    print(forked.id)
    forked.close()


def go_to(reference: str, entry: str, summary: bool, instructions: str, model: str | None) -> int:
    if not summary:
        session = _to_change(reference)
        try:
            target, text = _place(session, entry)
            session.move_to(target)
            session.sync()
        finally:
            session.close()
        print("at the beginning" if target is None else f"at {target}")
        if text is not None:
            print(f"before: {one_line(text)}")
        return 0
    from agentcli.agent.threads import run
    from agentcli.headless.session_work import go_to_entry

    moved, stopped = run(go_to_entry(_options(reference, model), entry, instructions))
    print(f"summarised the branch, and at {entry}" if moved.moved else "stopped; nothing has changed")
    return stopped or 0


def _place(session: Session, entry: str) -> tuple[str | None, str | None]:
    from agentcli.runtime.navigation import branch_point

    return (None, None) if entry == "start" else branch_point(session, session.storage.find_id(entry))


def set_label(reference: str, entry: str, label: str | None) -> None:
    session = _to_change(reference)
    try:
        session.append_label(session.storage.find_id(entry), label)
        session.sync()
    finally:
        session.close()


def rename(reference: str, name: str) -> None:
    session = _to_change(reference)
    try:
        session.append_session_info(name)
        session.sync()
    finally:
        session.close()


def delete(reference: str, yes: bool) -> None:
    import typer

    path = _find(reference)
    if not yes:
        from agentcli.headless.session_lines import list_row
        from agentcli.sessions.listing import read_info

        info = read_info(path)
        what = list_row(info, with_folder=True) if info else str(path)
        if not sys.stdin.isatty():
            raise UsageError(f"deleting asks first, and nobody can answer here: {what}", hint="add --yes")
        typer.confirm(f"Delete {what}?", abort=True, err=True)
    print("moved to the trash" if _repo().delete(path) else "deleted: there is no trash here")


def compact(reference: str, instructions: str, model: str | None) -> int:
    from agentcli.agent.threads import run
    from agentcli.headless.exit_codes import ExitCode
    from agentcli.headless.session_work import compact_session

    end, stopped = run(compact_session(_options(reference, model), instructions))
    if stopped is not None:
        return stopped
    if end is None or end.summary is None:
        # What went wrong has been said when it happened.
        if end is None or not end.error_message:
            print("agentcli: nothing was compacted", file=sys.stderr)
        return ExitCode.FAILED
    print(f"compacted: about {end.tokens_before:,} tokens are now about {end.tokens_after:,}")
    return ExitCode.DONE


def export(reference: str, format: str, output: Path | None) -> None:
    from agentcli.sessions.export.export import export_session

    session = _to_read(reference)
    text = export_session(session, format)
    session.close()
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, "utf-8", newline="")
        output.chmod(0o600)
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}", hint="give another --output") from None
    print(output)


def import_(path: Path, cwd: Path | None) -> None:
    from agentcli.sessions.listing import read_info

    repo = _repo()
    imported = repo.import_file(path.expanduser(), cwd=working_folder(cwd) if cwd else None)
    for notice in repo.notices:
        print(f"agentcli: {printable(notice)}", file=sys.stderr)
    info = read_info(imported)
    print(info.id if info else imported)


def doctor(references: list[str], repair: bool) -> int:
    from agentcli.sessions import doctor as doctoring

    paths = [_find(reference) for reference in references] or list(_repo().files())
    ill = 0
    for path in paths:
        findings = doctoring.examine(path)
        for finding in findings:
            print(printable(f"{path.name}: {finding.kind}: {finding.text}"))
        if not any(finding.is_wrong for finding in findings):
            ill += any(finding.kind == "refused" for finding in findings)
            continue
        ill += 1
        if repair:
            try:
                lost = sum(finding.kind in ("torn", "unreadable", "damaged") for finding in findings)
                left_out = f"; {lost} of what is above could not be read and is left out" if lost else ""
                print(printable(f"{path.name}: a repaired copy is {doctoring.repair(path)}{left_out}"))
            except SessionError as error:
                print(printable(f"{path.name}: cannot be repaired: {error}"))
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    print(f"{files} looked at, " + ("all well" if not ill else f"{ill} not well" + ("" if repair else " (--repair)")))
    return 1 if ill and not repair else 0


def _options(reference: str, model: str | None) -> "RuntimeOptions":
    from agentcli.config.configuration import load_configuration
    from agentcli.runtime.runtime import RuntimeOptions
    from agentcli.runtime.session_choice import SessionChoice

    return RuntimeOptions(load=load_configuration, model=model, session=SessionChoice(reference=str(_find(reference))))
