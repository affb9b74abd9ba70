"""Git places: git directories below those that commands may write to, and the files that git obeys in them."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from agentcli.files.repository import git_directory
from agentcli.tools.sandbox.backend import trusted_program

_MOST_DIRECTORIES = 5_000
_MOST_REPOSITORIES = 50
"""Each is several mounts, and a mount takes the longer the more there are."""
_NOT_SEARCHED = frozenset({"node_modules", ".venv", "venv", "__pycache__", ".tox", ".hg", ".svn"})
_GIT_AT_MOST_S = 2.0

SAYS_WHAT_RUNS = ("hooks", "config", "config.worktree", "commondir", "info/attributes")
"""In a git directory: what says which programs git runs."""
SAYS_WHERE_IT_IS = ("commondir", "gitdir", "config.worktree")
"""In the directory that a repository has for a worktree."""


def find_repositories(directory: Path) -> list[Path]:
    """The `.git` of each repository below a directory, its own left out: directories, and files that name one.

    Searches breadth first, at most 5,000 directories and 50 repositories, and not in installed packages.
    """
    found: list[Path] = []
    queue = [directory]
    for place in queue:
        if len(found) >= _MOST_REPOSITORIES:
            break
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name == ".git":
                if place != directory:
                    found.append(Path(entry.path))
            elif len(queue) < _MOST_DIRECTORIES and _is_searched(entry):
                queue.append(Path(entry.path))
    return found


def _is_searched(entry: os.DirEntry[str]) -> bool:
    return entry.name not in _NOT_SEARCHED and entry.is_dir(follow_symlinks=False)


def is_bare_repository(directory: Path) -> bool:
    return all((directory / name).exists() for name in ("HEAD", "objects", "refs"))


def submodule_directories(git: Path) -> Iterator[Path]:
    """The git directories of a repository's submodules, those of their own submodules included."""
    yield from _with_head(git / "modules")


def worktree_directories(git: Path) -> list[Path]:
    return sorted(path for path in _entries(git / "worktrees") if (path / "gitdir").exists())


def _with_head(directory: Path) -> Iterator[Path]:
    for path in _entries(directory):
        if (path / "HEAD").exists():
            yield path
            yield from _with_head(path / "modules")
        else:
            yield from _with_head(path)


def _entries(directory: Path) -> list[Path]:
    try:
        return [Path(entry.path) for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def named_by_config(root: Path) -> list[Path]:
    """The directory of hooks and the further configuration that a repository's configuration names. Runs git, 3 ms."""
    git = trusted_program("git", root)
    if git is None or git_directory(root) is None:
        return []
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            [git, "config", "--list", "--show-origin", "--includes", "-z"],
            cwd=root, env=kept, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_AT_MOST_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    fields = os.fsdecode(done.stdout).split("\0")
    found: dict[Path, None] = {}
    for origin, setting in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = setting.partition("\n")
        name = key.lower()
        if name == "core.hookspath" and value:
            found[_placed(root, value)] = None
        elif name.startswith(("include.", "includeif.")) and name.endswith(".path") and origin.startswith("file:"):
            found[_placed(_placed(root, origin.removeprefix("file:")).parent, value)] = None
    return list(found)


def _placed(root: Path, name: str) -> Path:
    return Path(os.path.normpath(root / os.path.expanduser(name)))  # noqa: PTH111 (without a home it stays as it is)
