"""What `agentcli doctor` does: try what agentcli needs of this machine, and say what it found."""

import os
import platform
import sys
import tempfile
import textwrap
from pathlib import Path

from agentcli.agent.errors import AgentcliError
from agentcli.agent.text import printable
from agentcli.config.configuration import load_configuration
from agentcli.config.paths import home
from agentcli.config.settings import SandboxMode, Settings
from agentcli.runtime.sandboxing import sandbox_policy
from agentcli.runtime.session_choice import working_folder
from agentcli.tools.sandbox.backend import Unavailable
from agentcli.tools.sandbox.bubblewrap import Bubblewrap
from agentcli.tools.sandbox.sandbox import back_ends
from agentcli.version import __version__

_WIDTH = 100
_INDENT = 16


def examine(cwd: Path | None, asked: SandboxMode | None) -> int:
    """Print it. Returns the exit code: 1 if something that is asked for cannot be had."""
    folder = working_folder(cwd)
    _say("agentcli", f"{__version__}, Python {platform.python_version()}, {platform.platform()}")
    settings, is_well = _settings(folder)
    is_well &= _home()
    is_well &= _search()
    return 0 if _sandbox(settings, folder, asked) and is_well else 1


def _settings(folder: Path) -> tuple[Settings, bool]:
    try:
        settings = load_configuration(folder).settings
    except AgentcliError as error:
        _say("settings", f"cannot be read, so the rest is for the defaults: {error}")
        return Settings(), False
    for warning in settings.warnings:
        _say("settings", warning)
    return settings, True


def _home() -> bool:
    place = home()
    above = next(path for path in (place, *place.parents) if path.exists())
    is_well = os.access(above, os.W_OK)
    _say("home", f"{place}{'' if is_well else ' cannot be written to, so nothing is kept'}")
    return is_well


def _search() -> bool:
    from agentcli.tools.search.ripgrep import ripgrep

    try:
        _say("search", f"ripgrep, {ripgrep()}")
    except AgentcliError as error:
        _say("search", str(error))
        return False
    return True


def _sandbox(settings: Settings, folder: Path, asked: SandboxMode | None) -> bool:
    mode = asked or settings.sandbox.mode
    tried = sandbox_policy(
        SandboxMode.WORKSPACE if mode == SandboxMode.OFF else mode, settings.sandbox, folder, settings.permissions.deny
    )
    found = ""
    lines: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as private:
        for back_end in back_ends(tried, Path(private)):
            try:
                back_end.start()
            except Unavailable as error:
                lines.append((back_end.name, f"not here: {error}"))
                continue
            limits = _limits(back_end) if isinstance(back_end, Bubblewrap) else back_end.limits
            lines.append((back_end.name, f"works{'' if found else ', and is the one that is taken'}. {limits}"))
            found = found or back_end.name
            back_end.close()
    if mode == SandboxMode.OFF:
        _say(
            "sandbox", "off: what commands may do is what you may do. --sandbox workspace, or [sandbox] in config.toml"
        )
    elif found:
        _say("sandbox", f"{mode}, by {found}: {tried.describe()}")
    else:
        _say("sandbox", f"{mode} is asked for, and nothing here can be one: agentcli will not start")
    for name, text in lines:
        _say(f"  {name}", text)
    return bool(found) or mode == SandboxMode.OFF


def _limits(back_end: Bubblewrap) -> str:
    groups = ", ".join(str(folder) for folder in back_end.groups)
    if groups:
        return f"All commands together have a limit of processes and memory ({groups})."
    return "There is no limit of processes and memory: this user may make no cgroups."


def _say(name: str, text: str) -> None:
    lines = textwrap.wrap(printable(text), _WIDTH - _INDENT, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines or [""]):
        print(f"{'' if number else name:<{_INDENT}}{line}", file=sys.stdout)
