"""The branch that a folder is on, read from git's own files: git itself would take 5 ms each time."""

from pathlib import Path

from agentcli.files.repository import git_directory, head_of, repository_root


def branch_of(folder: Path) -> str:
    """The branch's name, the first characters of the commit if it is none, or nothing outside of a repository."""
    root = repository_root(folder)
    directory = git_directory(root) if root is not None else None
    try:
        text = head_of(directory) if directory is not None else ""
    except OSError:
        # It was there a moment ago.
        return ""
    # A name in another encoding can be shown, not printed.
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    if text.startswith("ref: "):
        return text.removeprefix("ref: ").removeprefix("refs/heads/")
    return text[:8]
