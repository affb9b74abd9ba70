"""Sandboxing: from the settings of the sandbox to what it allows."""

from collections.abc import Iterable
from pathlib import Path

from agentcli.config.paths import config_file, home
from agentcli.config.settings import SandboxMode, SandboxSettings
from agentcli.tools.sandbox.policy import SandboxPolicy


def sandbox_policy(mode: SandboxMode, settings: SandboxSettings, cwd: Path) -> SandboxPolicy:
    """`mode` is not `off`. Relative paths start in the working folder."""
    network = settings.network
    spill = home() / "spill"
    return SandboxPolicy(
        cwd=cwd,
        writes=mode == SandboxMode.WORKSPACE,
        network=network == "on",
        hosts=tuple(network) if isinstance(network, list) else None,
        writable=_paths(settings.writable, cwd),
        hidden=(home(), config_file(), *_paths(settings.hidden, cwd)),
        shown=(spill,),
    )


def _paths(names: Iterable[str], cwd: Path) -> tuple[Path, ...]:
    return tuple(cwd / Path(name).expanduser() for name in names)
