"""make_repository: as much of a repository as git needs to take it for one, without running git."""

from pathlib import Path


def make_repository(root: Path, head: str = "ref: refs/heads/main") -> Path:
    """Returns the folder."""
    git = root / ".git"
    for folder in ("objects", "refs"):
        (git / folder).mkdir(parents=True, exist_ok=True)
    (git / "HEAD").write_text(f"{head}\n")
    return root
