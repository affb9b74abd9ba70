"""Reading files that others may have put there: nothing blocks, everything has a limit, and every reason is reported."""

import os
import socket
from pathlib import Path

import pytest

from agentcli.files.reading import FileProblem, decode, open_regular, read_beginning, read_bytes


def hostile_paths(folder: Path) -> dict[Path, str]:
    """Paths at which no reader may block, and the reason given for each."""
    os.mkfifo(folder / "fifo")
    (folder / "to_fifo").symlink_to("fifo")
    (folder / "loop").symlink_to("loop")
    (folder / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(folder / "socket"))
    found = {
        "fifo": "a FIFO",
        "to_fifo": "a FIFO",
        "loop": "symbolic links",
        "folder": "a folder",
        "socket": "a socket",
    }
    for name in ("tty", "zero", "ptmx", "null"):
        (folder / name).symlink_to(f"/dev/{name}")
        found[name] = "a character device"
    return {folder / name: reason for name, reason in found.items()}


def test_what_is_no_regular_file_is_never_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for path, reason in hostile_paths(tmp_path).items():
        with pytest.raises(OSError) as caught:
            read_bytes(path, 100)
        assert reason in (caught.value.strerror or ""), path


def test_a_file_that_becomes_a_fifo_when_it_is_opened_blocks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "file"
    path.write_text("text")
    before = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda self: before)
    with pytest.raises(FileProblem, match="a FIFO"):
        open_regular(path)


def test_no_descriptor_is_left_open_by_a_refusal(tmp_path: Path):
    (tmp_path / "file").write_text("text")

    def refuse(path: Path, status: os.stat_result) -> None:
        raise FileProblem("it is not wanted", path)

    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        with pytest.raises(FileProblem, match="file cannot be read: it is not wanted"):
            read_bytes(tmp_path / "file", 100, refuse)
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_file_is_read_up_to_its_limit(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 2048)
    assert read_bytes(path, 2048) == b"x" * 2048
    assert read_beginning(path, 1024) == (b"x" * 1024, True)
    with pytest.raises(FileProblem, match="larger than 1 KiB"):
        read_bytes(path, 1024)
    # A file of a terabyte takes no longer.
    os.truncate(path, 1 << 40)
    with pytest.raises(FileProblem, match="larger than 1 MiB"):
        read_bytes(path, 1 << 20)


def test_a_file_that_is_not_there_is_no_problem_of_ours(tmp_path: Path):
    (tmp_path / "dangling").symlink_to("nothing")
    for name in ("none", "dangling"):
        with pytest.raises(FileNotFoundError):
            read_bytes(tmp_path / name, 1)


def test_text_is_utf_8_or_has_a_bom_and_what_is_damaged_is_said():
    for data, text, is_whole in (
        (b"\xef\xbb\xbfabc", "abc", True),
        ("é\n".encode("utf-16"), "é\n", True),
        (b"caf\xe9", "caf\ufffd", False),
        ("a \ufffd that was there".encode(), "a \ufffd that was there", True),
    ):
        assert decode(data) == (text, is_whole)
    with pytest.raises(FileProblem, match="binary"):
        decode(b"HOME=/root\0PATH=/bin\0")
