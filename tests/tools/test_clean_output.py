"""From bytes that a terminal would act on to the text it would finally show."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentcli.tools.bash.clean_output import OutputCleaner, clean_text, resolve_line


def cleaned(*chunks: bytes) -> str:
    cleaner = OutputCleaner()
    finished = b"".join(cleaner.feed(chunk) for chunk in chunks)
    return clean_text(finished + cleaner.current_line())[0]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"plain\ntext\n", "plain\ntext\n"),
        (b"\x1b[1;31mred\x1b[0m\n", "red\n"),
        (b"\x1b]0;title\x07after\n", "after\n"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "link\n"),
        (b"\x1bPdevice\x1b\\after\n", "after\n"),
        (b"\x1b(Bcharset\x1b7\x1b8\x1b=\n", "charset\n"),
        (b"\x1b[?25l\x1b[2J\x1b[Hscreen\n", "screen\n"),
        (b"a\x1b[38:2:1:2:3mb\n", "ab\n"),
        ("\x9b31mc1\x9b0m\n".encode(), "c1\n"),
        (b"10%\r50%\r100%\n", "100%\n"),
        (b"longer text\rshort\n", "shortr text\n"),
        (b"longer text\r\x1b[Kshort\n", "short\n"),
        (b"longer text\x1b[2K\rshort\n", "short\n"),
        (b"abc\x08\x08X\n", "aXc\n"),
        (b"abc\x1b[2DX\n", "aXc\n"),
        (b"abcdef\x1b[3GX\n", "abXdef\n"),
        (b"abcdef\r\x1b[2PX\n", "Xdef\n"),
        (b"a\x1b[3Cb\n", "a   b\n"),
        (b"abcdef\r\x1b[3X\n", "   def\n"),
        (b"abc\x1b[1K\n", "\n"),
        (b"keep\r\nthis\r\n", "keep\nthis\n"),
        (b"keep\r\r\nthis\r\r\n", "keep\nthis\n"),
        (b"unfinished\rU", "Unfinished"),
        (b"nul\0bell\x07del\x7f\tok\n", "nulbelldel\tok\n"),
        ("wide 你好\rX\n".encode(), "Xide 你好\n"),
        (b"bad \xff\xfe\rB\n", "Bad \ufffd\ufffd\n"),
        (b"lone\x1b\nescape\n", "lone\nescape\n"),
        (b"\x1b \x1btext\n", "ext\n"),
        (b"\x1b[3 \x1b[31mred\n", "red\n"),
        (b"\x1b[31", ""),
        (b"\x1b]0;never ends", ""),
    ],
)
def test_what_a_terminal_would_show_is_left(raw: bytes, shown: str) -> None:
    assert cleaned(raw) == shown
    assert cleaned(*(raw[at : at + 1] for at in range(len(raw)))) == shown, "fed byte by byte"


@pytest.mark.parametrize("frames", [3_000, 60_000])
def test_a_line_of_many_frames_stays_small_while_it_grows(frames: int) -> None:
    cleaner = OutputCleaner()
    for number in range(frames):
        assert cleaner.feed(b"\rframe %d" % number) == b""
    assert cleaner.current_line() == b"frame %d" % (frames - 1)
    assert len(cleaner._pending) < 10_000


def test_a_huge_line_without_end_is_passed_on_in_parts() -> None:
    cleaner = OutputCleaner()
    passed = sum(len(cleaner.feed(b"x" * 10_000)) for _ in range(1_000))
    assert passed + len(cleaner.current_line()) == 10_000_000
    assert len(cleaner._pending) <= 1 << 19


def test_a_string_sequence_that_never_ends_does_not_fill_the_memory() -> None:
    cleaner = OutputCleaner()
    for _ in range(1_000):
        cleaner.feed(b"\x1b]0;" + b"x" * 10_000)
    assert len(cleaner._pending) <= 1 << 19


PIECES = st.sampled_from(
    [b"text", b"\n", b"\r\n", b"\r", b"\x08", b"\x1b[31m", b"\x1b[K", b"\x1b[2D", b"\x1b]0;t\x07", "é你💩".encode(), b"\xff",
     b"\x1b[5C", b"\x1b(B", b" ", b"\x1b", b"[", b"\0"]
)  # fmt: skip


@example([b"\x1b", b"\x1b", b"\x1b", b"text"], [4])
@given(st.lists(PIECES, max_size=30), st.lists(st.integers(1, 5), max_size=60))
def test_it_does_not_matter_how_the_bytes_are_cut_into_chunks(pieces: list[bytes], sizes: list[int]) -> None:
    raw = b"".join(pieces)
    chunks: list[bytes] = []
    position = 0
    for size in sizes:
        chunks.append(raw[position : position + size])
        position += size
    chunks.append(raw[position:])
    assert cleaned(*chunks) == cleaned(raw)


@given(st.binary(max_size=300))
def test_nothing_that_a_terminal_acts_on_is_left_of_any_bytes(raw: bytes) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", cleaned(raw))


@given(st.text(st.characters(blacklist_categories=("Cc", "Cs")), max_size=100))
def test_text_without_control_characters_stays_as_it_is(text: str) -> None:
    assert cleaned(text.encode()) == text
    assert resolve_line(text.encode()) == text.encode()
