"""Sandboxing: from the settings of the sandbox to what it allows."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from agentcli.config.paths import config_file, home
from agentcli.config.settings import SandboxMode, SandboxSettings
from agentcli.runtime.permissions.rules import Rule, Verdict
from agentcli.tools.sandbox.policy import SandboxPolicy

_LOOKED_AT = 20_000
"""Files and folders of the working folder that rules are held against when the sandbox begins."""
_NOT_LOOKED_INTO = frozenset({".git", "node_modules", ".venv"})


def sandbox_policy(mode: SandboxMode, settings: SandboxSettings, cwd: Path, deny: Iterable[str] = ()) -> SandboxPolicy:
    """`mode` is not `off`. Relative paths start in the working folder.

    Args:
        deny: rules; what they do not let the agent read is hidden.
    """
    network = settings.network
    spill = home() / "spill"
    return SandboxPolicy(
        cwd=cwd,
        writes=mode == SandboxMode.WORKSPACE,
        network=network == "on",
        hosts=tuple(network) if isinstance(network, list) else None,
        writable=_paths(settings.writable, cwd),
        hidden=(home(), config_file(), *_paths(settings.hidden, cwd), *_denied(deny, cwd)),
        shown=(spill,),
    )


def _paths(names: Iterable[str], cwd: Path) -> tuple[Path, ...]:
    return tuple(cwd / Path(name).expanduser() for name in names)


def _denied(texts: Iterable[str], cwd: Path) -> Iterator[Path]:
    root = Path(os.path.realpath(cwd))
    rules = [Rule(Verdict.DENY, text, root) for text in texts]
    rules = [rule for rule in rules if rule.pattern is not None and rule.speaks_of("read")]
    if rules:
        yield from (path for path in islice(_inside(root), _LOOKED_AT) if any(rule.covers_path(path) for rule in rules))


def _inside(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_LOOKED_INTO]
        yield from (Path(place, name) for name in (*folders, *files))
