"""The root of a repository is the one that git finds."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentcli.files.repository import git_directory, repository_problems, repository_root
from agentcli.tui.session_controller import branch_of
from tests.files.repository import make_repository


def leftovers(folder: Path) -> list[Path]:
    """Folders with a `.git` that git does not take for a repository."""
    empty, no_refs, bad_head, lost = (folder / name for name in ("empty", "no_refs", "bad_head", "lost"))
    (empty / ".git").mkdir(parents=True)
    shutil.rmtree(make_repository(no_refs) / ".git" / "refs")
    make_repository(bad_head, "nonsense")
    for place, text in ((lost, "gitdir: /nowhere\n"), (folder / "no_link", "hello\n"), (folder / "void", "")):
        place.mkdir()
        (place / ".git").write_text(text)
    (folder / "dangling").mkdir()
    (folder / "dangling" / ".git").symlink_to("nowhere")
    return [empty, no_refs, bad_head, lost, folder / "no_link", folder / "void", folder / "dangling"]


def test_a_leftover_is_passed_over_and_the_root_above_it_counts(tmp_path: Path):
    root = make_repository(tmp_path / "root")
    for folder in leftovers(root):
        assert git_directory(folder) is None, folder
        assert repository_root(folder) == root
        assert repository_problems(folder) == []


def test_detached_heads_old_links_and_worktrees_are_roots(tmp_path: Path):
    detached = make_repository(tmp_path / "detached", "0123456789abcdef0123456789abcdef01234567")
    assert (repository_root(detached), branch_of(detached)) == (detached, "01234567")
    linked = make_repository(tmp_path / "linked")
    (linked / ".git" / "HEAD").unlink()
    (linked / ".git" / "HEAD").symlink_to("refs/heads/old")
    assert (repository_root(linked), branch_of(linked)) == (linked, "old")
    main = make_repository(tmp_path / "main")
    of_tree = main / ".git" / "worktrees" / "tree"
    of_tree.mkdir(parents=True)
    (of_tree / "HEAD").write_text("ref: refs/heads/side\n")
    (of_tree / "commondir").write_text("../..\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../main/.git/worktrees/tree\n")
    assert (repository_root(tree), branch_of(tree)) == (tree, "side")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
def test_git_says_the_same(tmp_path: Path):
    root = make_repository(tmp_path / "root")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for folder in [root, *leftovers(root)]:
        done = subprocess.run(
            ["git", "rev-parse", "--show-toplevel"], cwd=folder, env=environment, capture_output=True, text=True
        )
        # git reports a broken `.git` file as an error; nothing else is a root for it.
        assert done.returncode == 128 or Path(done.stdout.strip()) == repository_root(folder), folder


def test_a_fifo_in_the_place_of_gits_files_blocks_nothing_and_is_told(tmp_path: Path):
    head = make_repository(tmp_path / "head")
    (head / ".git" / "HEAD").unlink()
    os.mkfifo(head / ".git" / "HEAD")
    file = tmp_path / "file"
    file.mkdir()
    os.mkfifo(file / ".git")
    for folder, name in ((head, ".git/HEAD"), (file, ".git")):
        assert repository_root(folder) is None
        assert branch_of(folder) == ""
        (problem,) = repository_problems(folder)
        assert problem.startswith(f"{folder}/{name} cannot be read") and "a FIFO" in problem
