"""What a write says has changed, for people."""

from pathlib import Path

import pytest

from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.files.write import MAX_DIFF_BYTES, write_file


def diff(tmp_path: Path, old: bytes | None, new: str) -> str:
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)
    known = ReadTracker()
    with FilePlace(path) as place:
        if (status := place.status()) is not None:
            known.seen(path, status)
        return write_file(place, new, known).diff


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"a\nb\nc\n", "a\nB\nc\nd\n", " 1 a\n-2 b\n+2 B\n 3 c\n+4 d"),
        (b"", "x\n", "+1 x"),
        (b"x\n", "", "-1 x"),
        (b"a\r\nb\r\n", "a\nc\n", " 1 a\n-2 b\n+2 c"),
        ("a\nb\n".encode("utf-16"), "a\nc\n", " 1 a\n-2 b\n+2 c"),
        (b"same\n", "same\n", ""),
        (b"\0\1\2binary", "text\n", ""),
        (None, "new\n", ""),
    ],
)
def test_the_lines_that_come_and_go_have_their_numbers(
    tmp_path: Path, old: bytes | None, new: str, expected: str
) -> None:
    assert diff(tmp_path, old, new) == expected


def test_of_a_very_large_file_there_is_no_diff(tmp_path: Path) -> None:
    assert diff(tmp_path, b"x\n" * MAX_DIFF_BYTES, "y\n") == ""
    assert diff(tmp_path, b"x\n", "y\n" * MAX_DIFF_BYTES) == ""
