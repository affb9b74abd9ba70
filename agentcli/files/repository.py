"""Repository: where the repository of a folder begins, as git itself takes it, without running git (5 ms each time).

A folder is a root if its `.git` is a git directory (`HEAD`, `objects`, `refs`), or a file that names one. An empty
`.git` that something left behind is none, and the search goes on above it.
"""

import contextlib
import os
import re
from pathlib import Path

from agentcli.files.reading import read_beginning

_MOST_BYTES = 1 << 13
"""Of `HEAD`, `commondir` and a `.git` file, which hold one line."""


def repository_root(cwd: Path) -> Path | None:
    """The nearest folder, from the working one up, in which a repository or worktree begins."""
    return next((folder for folder in (cwd, *cwd.parents) if git_directory(folder) is not None), None)


def git_directory(folder: Path) -> Path | None:
    """The git directory of the repository or worktree that begins in a folder; None if none does."""
    try:
        return _git_directory(folder)
    except OSError:
        return None  # `repository_problems` tells


def repository_problems(cwd: Path) -> list[str]:
    """A line for each `.git` between the working folder and the root that cannot be looked into."""
    problems: list[str] = []
    for folder in (cwd, *cwd.parents):
        try:
            if _git_directory(folder) is not None:
                break
        except OSError as error:
            place = error.filename or folder / ".git"
            problems.append(f"{place} cannot be read, so {folder} is no repository here: {error.strerror}")
    return problems


def head_of(directory: Path) -> str:
    """What the `HEAD` of a git directory says, as one line: `ref: refs/heads/NAME`, or a commit. Raises OSError."""
    head = directory / "HEAD"
    if head.is_symlink() and (target := os.readlink(head)).startswith("refs/"):  # noqa: PTH115 (as it is written)
        return f"ref: {target}"
    return _line(head)


def _git_directory(folder: Path) -> Path | None:
    """As `git_directory`. Raises OSError for what is there and cannot be read."""
    git = folder / ".git"
    try:
        if git.is_dir():
            return git if _is_git_directory(git) else None
        text = _line(git)
        directory = folder / text.removeprefix("gitdir: ")
        return directory if text.startswith("gitdir: ") and _is_git_directory(directory) else None
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_git_directory(directory: Path) -> bool:
    if not re.match(r"ref:\s*refs/|[0-9a-f]{40}", head_of(directory)):
        return False
    common = directory
    with contextlib.suppress(FileNotFoundError):
        # Worktrees share these with the repository that they are of.
        common = directory / _line(directory / "commondir")
    return (common / "objects").is_dir() and (common / "refs").is_dir()


def _line(path: Path) -> str:
    return os.fsdecode(read_beginning(path, _MOST_BYTES)[0]).rstrip("\r\n")
