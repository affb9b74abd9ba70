"""Repository: the root of a directory's repository, as git finds it, without running git.

A directory is a root if its `.git` is a git directory (`HEAD`, `objects`, `refs`), or a file that names one. An empty
`.git` is none, and the search continues above it.
"""

import contextlib
import os
import re
from pathlib import Path

from agentcli.files.reading import read_beginning

_MOST_BYTES = 1 << 13
"""Of `HEAD`, `commondir` and a `.git` file, which contain one line."""


def repository_root(cwd: Path) -> Path | None:
    """The nearest directory, from the working one upwards, that is the root of a repository or worktree."""
    return next((root for root in (cwd, *cwd.parents) if git_directory(root) is not None), None)


def git_directory(root: Path) -> Path | None:
    """The git directory of the repository or worktree with this root; None if it is none."""
    try:
        return _git_directory(root)
    except OSError:
        return None  # `repository_problems` reports it


def repository_problems(cwd: Path) -> list[str]:
    """A line for each `.git` from the working directory up to the root that cannot be read."""
    problems: list[str] = []
    for directory in (cwd, *cwd.parents):
        try:
            if _git_directory(directory) is not None:
                break
        except OSError as error:
            place = error.filename or directory / ".git"
            problems.append(f"{place} cannot be read, so {directory} is no repository here: {error.strerror}")
    return problems


def head_of(directory: Path) -> str:
    """The content of a git directory's `HEAD`: `ref: refs/heads/NAME`, or a commit. Raises OSError."""
    head = directory / "HEAD"
    if head.is_symlink() and (target := os.readlink(head)).startswith("refs/"):  # noqa: PTH115 (as it is written)
        return f"ref: {target}"
    return _line(head)


def _git_directory(root: Path) -> Path | None:
    """As `git_directory`, but raises OSError for a `.git` that cannot be read."""
    git = root / ".git"
    try:
        if git.is_dir():
            return git if _is_git_directory(git) else None
        text = _line(git)
        directory = root / text.removeprefix("gitdir: ")
        return directory if text.startswith("gitdir: ") and _is_git_directory(directory) else None
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_git_directory(directory: Path) -> bool:
    if not re.match(r"ref:\s*refs/|[0-9a-f]{40}", head_of(directory)):
        return False
    common = directory
    with contextlib.suppress(FileNotFoundError):
        # A worktree shares these with its repository.
        common = directory / _line(directory / "commondir")
    return (common / "objects").is_dir() and (common / "refs").is_dir()


def _line(path: Path) -> str:
    return os.fsdecode(read_beginning(path, _MOST_BYTES)[0]).rstrip("\r\n")
