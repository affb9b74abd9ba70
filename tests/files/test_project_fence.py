"""Which files of a project are read: those inside of it that its user, or root, owns."""

import os
from pathlib import Path

import pytest

from agentcli.files import project_fence
from agentcli.files.project_fence import fence_of
from agentcli.files.reading import FileProblem, read_bytes
from tests.files.repository import make_repository


def test_a_link_may_lead_anywhere_in_the_repository_and_nowhere_else(tmp_path: Path):
    root = make_repository(tmp_path / "root")
    sub = root / "sub"
    sub.mkdir()
    (root / "inside").write_text("inside")
    (tmp_path / "secret").write_text("secret")
    (sub / "in").symlink_to("../inside")
    assert read_bytes(sub / "in", 100, fence_of(sub)) == b"inside"
    (tmp_path / "through").symlink_to(root)
    assert read_bytes(tmp_path / "through" / "sub" / "in", 100, fence_of(tmp_path / "through" / "sub")) == b"inside"
    (root / "away").symlink_to(tmp_path)
    (sub / "out").symlink_to("../../secret")
    (sub / "root").symlink_to("/etc/passwd")
    (sub / "environment").symlink_to("/proc/self/environ")
    for path in (sub / "out", sub / "root", sub / "environment", root / "away" / "secret"):
        with pytest.raises(FileProblem, match="leads out of the repository, to "):
            read_bytes(path, 1 << 20, fence_of(sub))


def test_without_a_repository_the_working_folder_is_the_border(tmp_path: Path):
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "above").write_text("above")
    (work / "up").symlink_to("../above")
    with pytest.raises(FileProblem, match="leads out of the working folder"):
        read_bytes(work / "up", 100, fence_of(work))


def test_files_of_the_system_are_outside_even_of_the_root_folder():
    assert not fence_of(Path("/")).encloses(Path("/proc/self/environ"))
    assert fence_of(Path("/")).encloses(Path("/etc/passwd"))


def test_a_file_of_another_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "file"
    path.write_text("text")
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner)
    assert read_bytes(path, 100, fence_of(tmp_path)) == b"text"
    status = os.stat_result((0o100644, path.stat().st_ino, path.stat().st_dev, 1, 4711, 0, 4, 0, 0, 0))
    with pytest.raises(FileProblem, match="belongs to another user"):
        fence_of(tmp_path)(path, status)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_UID", "4711")
    fence_of(tmp_path)(path, status)
    assert project_fence._owners() == {0, 4711}


def test_a_rule_that_denies_keeps_a_file_out(tmp_path: Path):
    (tmp_path / "secret.md").write_text("text")
    (tmp_path / "AGENTS.md").symlink_to("secret.md")
    fence = fence_of(tmp_path, lambda path: "read(secret*)" if path.name.startswith("secret") else None)
    with pytest.raises(FileProblem, match=r"the rule read\(secret\*\) denies it"):
        read_bytes(tmp_path / "AGENTS.md", 100, fence)
