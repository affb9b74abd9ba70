"""What `agentcli trust` does: show what a project's files say, and trust them as they are."""

import sys
from pathlib import Path

from agentcli.agent.errors import ConfigError, UsageError
from agentcli.agent.text import printable
from agentcli.config.project import Project, ProjectFile, read_project
from agentcli.config.trust import distrust, read_trust, trust
from agentcli.runtime.session_choice import working_folder


def trust_project(cwd: Path | None, *, yes: bool, remove: bool, list_: bool) -> None:
    if list_:
        for path in sorted(read_trust().files):
            print(printable(path))
        return
    folder = working_folder(cwd)
    if remove:
        for path in distrust(folder):
            print(printable(f"no longer trusted: {path}"))
        return
    project = read_project(folder)
    for notice in project.notices:
        print(printable(f"agentcli: {notice}"), file=sys.stderr)
    new = [file for file in project.files if not file.trusted]
    if not new:
        print(_nothing_new(project, folder))
        return
    for file in new:
        _show(file)
    if not yes and not _confirmed():
        raise ConfigError("nothing was trusted", hint="agentcli trust --yes trusts without a question")
    for file in new:
        trust(file.path, file.data)
        print(printable(f"trusted as it is now: {file.path}"))


def _nothing_new(project: Project, folder: Path) -> str:
    if project.files:
        return "all files of this project are trusted as they are"
    return printable(f"{folder} has no project files of agentcli")


def _show(file: ProjectFile) -> None:
    print(printable(f"── {file.path}"))
    print(printable(file.data.decode("utf-8-sig", "replace").rstrip()))


def _confirmed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody is here to say whether to trust this", hint="agentcli trust --yes")
    print("Trust this? Commands, servers and permissions that it names will be used. [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
