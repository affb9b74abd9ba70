"""Line ends in an edit: lines that stay keep their bytes, new ones end as the lines beside them."""

from pathlib import Path

import pytest

from tests.tools.conftest import Tools

CASES: list[tuple[bytes, str, str, bytes]] = [
    # A lone CR beside LF is a character.
    (b"a\rb\nc\n", "a\rb\nc", "a\rB\nc", b"a\rB\nc\n"),
    (b"p\nx\ry\n", "x", "x\nz", b"p\nx\nz\ry\n"),
    (b"p\nx\ry", "y", "y\nz", b"p\nx\ry\nz"),
    (b"x\ry\np", "x", "x\nz", b"x\nz\ry\np"),
    (b"p\r\nx\ry\r\n", "x", "x\nz", b"p\r\nx\r\nz\ry\r\n"),
    (b"a\rb\nc\n", "a\rb", "a\nb", b"a\nb\nc\n"),
    (b"a\rb\nc\n", "a\rb\nc", "a\rb\nNEW\nc", b"a\rb\nNEW\nc\n"),
    (b"a\rb\nc\n", "b\nc", "b\nx\rx\nc", b"a\rb\nx\rx\nc\n"),
    # Named by LF, it stays where it is, and no new line gets it.
    (b"a\rb\nc\n", "a\nb\nc", "a\nB\nc", b"a\rB\nc\n"),
    (b"a\rb\nc\n", "a\nb\nc", "a\nb\nNEW\nc", b"a\rb\nNEW\nc\n"),
    (b"a\rb\nc\n", "a\nb", "a\nNEW\nb", b"a\rNEW\nb\nc\n"),
    # CR only.
    (b"a\rb\rc\r", "b", "b\nx", b"a\rb\rx\rc\r"),
    (b"a\rb\rc\r", "a\nb", "a\nx\nb", b"a\rx\rb\rc\r"),
    (b"a\rb\rc\r", "a\rb", "a\rx\rb", b"a\rx\rb\rc\r"),
    # Mixed CRLF and LF: a line in the middle that stays keeps its end, a changed one that of the line it was.
    (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "A\nb\nC\nd", b"A\r\nb\nC\r\nd\n"),
    (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "b\nc\nd", b"b\nc\r\nd\n"),
    (b"a\r\nb\nc\r\nd\n", "a\nb\nc\nd", "a\nb\nnew\nc\nd", b"a\r\nb\nnew\nc\r\nd\n"),
    (b"a\nb\r\nc\n", "b", "b\nx", b"a\nb\r\nx\r\nc\n"),
    # CRLF that only stood for a line end.
    (b"a\nb\nc\n", "a\r\nb", "a\r\nB", b"a\nB\nc\n"),
    (b"a\nb\nc\n", "a\nb", "a\r\nb", b"a\r\nb\nc\n"),
    (b"a  \nb\nc\n", "a\r\nb\r\n", "A\r\nb\r\n", b"A  \nb\nc\n"),
    # What is no line end is a character like any other.
    ("a\x85b\nc\n".encode(), "a\x85b\nc", "a\x85B\nx\nc", "a\x85B\nx\nc\n".encode()),
    ("a\u2028b\u2029\nc\n".encode(), "b", "b\u2028\nx", "a\u2028b\u2028\nx\u2029\nc\n".encode()),
    (b"a\x0cb\x0b\x1c\r\nc\r\n", "b", "b\x0c\nx", b"a\x0cb\x0c\r\nx\x0b\x1c\r\nc\r\n"),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_lines_that_stay_keep_their_end_and_new_ones_get_that_of_their_neighbours(
    tools: Tools, cwd: Path, encoding: str
) -> None:
    for before, old, new, after in CASES:
        (cwd / "f.txt").write_bytes(before.decode().encode(encoding))
        answer = await tools.edit("f.txt", (old, new))
        seen = (cwd / "f.txt").read_bytes().decode(encoding)
        assert (seen, answer.is_error) == (after.decode(), False), (before, old, new, answer.text)
