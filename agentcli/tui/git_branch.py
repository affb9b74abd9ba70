"""The branch that a folder is on, read from git's own files: git itself would take 5 ms each time."""

from pathlib import Path

MOST_PARENTS = 40


def branch_of(folder: Path) -> str:
    """The branch's name, the first characters of the commit if it is none, or nothing outside of a repository."""
    try:
        head = next((found for parent in [folder, *folder.parents][:MOST_PARENTS] if (found := _head_of(parent))), None)
        text = head.read_text("utf-8", "replace").strip() if head else ""
    except OSError:
        # A repository that cannot be read has no branch to show.
        return ""
    if text.startswith("ref: "):
        return text.removeprefix("ref: ").removeprefix("refs/heads/")
    return text[:8]


def _head_of(folder: Path) -> Path | None:
    """The file HEAD of a repository or worktree that begins in this folder."""
    git = folder / ".git"
    if git.is_dir():
        return git / "HEAD"
    if git.is_file() and (text := git.read_text("utf-8", "replace").strip()).startswith("gitdir: "):
        return folder / text.removeprefix("gitdir: ") / "HEAD"
    return None
