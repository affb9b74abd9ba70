"""What is kept of an output: its clean end in memory, its raw bytes in a file, whatever the chunks are."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.tools.bash import command_output
from agentcli.tools.bash.clean_output import OutputCleaner, clean_text
from agentcli.tools.bash.command_output import CommandOutput, describe
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.truncate import head_of, line_count, plural, size, tail_of

PIECES = st.sampled_from(
    [
        b"line\n",
        b"text ",
        b"\r\n",
        b"10%\r",
        b"\x1b[1mbold\x1b[0m\n",
        "é你💩\n".encode(),
        b"\xff\n",
        b"x" * 70 + b"\n",
        b"\n",
    ]
)


def whole(raw: bytes) -> str:
    cleaner = OutputCleaner()
    return clean_text(cleaner.feed(raw) + cleaner.current_line())[0]


@given(st.lists(PIECES, max_size=60), st.lists(st.integers(1, 40), max_size=80))
def test_the_end_of_any_output_is_shown_whatever_the_chunks(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], sizes: list[int]
) -> None:
    raw = b"".join(pieces)
    spill = SpillFolder(tmp_path_factory.getbasetemp() / "spill")
    output = CommandOutput(spill, 10, 200, 1 << 20)
    position = 0
    for length in [*sizes, len(raw)]:
        output.feed(raw[position : position + length])
        position += length
        if length % 3:
            live, now = output.live(), output.snapshot()
            assert (live.text, live.truncation) == (now.text, now.truncation)
    output.end()
    snapshot = output.snapshot()
    text, cut = tail_of(whole(raw), 10, 200)
    assert snapshot.text == text
    assert (snapshot.truncation is None) == (cut is None)
    if snapshot.truncation is not None:
        assert snapshot.truncation.total_lines == raw.count(b"\n") + (not raw.endswith(b"\n"))
        assert str(output.path) in describe(snapshot, output)
    lines = raw.count(b"\n") + (not raw.endswith(b"\n"))
    assert (output.path is not None) == (len(raw) > 200 or lines > 10 or cut is not None)
    if output.path is not None:
        assert output.path.read_bytes() == raw
    spill.remove()


@given(st.lists(st.tuples(PIECES, st.integers(1, 40)), min_size=1, max_size=40))
def test_in_a_flood_the_last_lines_are_right_though_not_all_are_looked_at(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[tuple[bytes, int]]
) -> None:
    saved = command_output._FLOOD_CHUNK, command_output._TAIL_BYTES, command_output._COUNT_LINES_IN
    command_output._FLOOD_CHUNK, command_output._TAIL_BYTES, command_output._COUNT_LINES_IN = 150, 150, 600
    spill = SpillFolder(tmp_path_factory.getbasetemp() / "flood")
    try:
        output = CommandOutput(spill, 5, 100, 1 << 20)
        for piece, count in blocks:
            output.feed(piece * count)
            output.snapshot()
        output.feed(b"\nlast but one\nEND\n")
        output.end()
        text = output.snapshot().text
    finally:
        command_output._FLOOD_CHUNK, command_output._TAIL_BYTES, command_output._COUNT_LINES_IN = saved
        spill.remove()
    assert text.endswith("last but one\nEND")
    assert whole(b"".join(piece * count for piece, count in blocks) + b"\nlast but one\nEND").endswith(text)


def test_a_disk_that_fills_up_is_said_and_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = CommandOutput(SpillFolder(tmp_path), 5, 100, 1 << 20)
    output.feed(b"line\n" * 50)

    def full(descriptor: int, data: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command_output.os, "write", full)
    output.feed(b"more\n" * 50)
    output.end()
    snapshot = output.snapshot()
    assert snapshot.text.endswith("more")
    assert "the file is not complete: No space left on device" in describe(snapshot, output)


TEXTS = st.text(st.sampled_from("ab\né你💩"), max_size=60)


@given(TEXTS, st.integers(1, 6), st.integers(4, 40))
def test_the_tail_is_whole_lines_from_the_end_within_both_limits(text: str, lines: int, limit: int) -> None:
    kept, cut = tail_of(text, lines, limit)
    body = text.removesuffix("\n")
    assert body.endswith(kept)
    assert len(kept.encode()) <= limit and kept.count("\n") < lines
    assert (cut is None) == (kept == body)
    begins_a_line = len(kept) == len(body) or body[len(body) - len(kept) - 1] == "\n"
    assert begins_a_line or "\n" not in kept


@given(TEXTS, st.integers(1, 6), st.integers(4, 40))
def test_the_head_is_whole_lines_from_the_start_within_both_limits(text: str, lines: int, limit: int) -> None:
    kept, cut = head_of(text, lines, limit)
    assert text.startswith(kept)
    assert len(kept.encode()) <= limit and line_count(kept) <= lines
    assert (cut is None) == (kept == text)
    assert kept == text or kept.endswith("\n") or "\n" not in kept


def test_sizes_and_numbers_for_people() -> None:
    assert [size(count) for count in (0, 1023, 1024, 51_200, 1_288_490, 5 << 30)] == [
        "0B", "1023B", "1.0KB", "50.0KB", "1.2MB", "5.0GB",
    ]  # fmt: skip
    assert [plural(1, "line"), plural(1200, "line"), plural(2, "match", "matches")] == [
        "1 line",
        "1,200 lines",
        "2 matches",
    ]


def test_what_is_kept_goes_through_a_filter(tmp_path: Path) -> None:
    from agentcli.config.masking import MaskedBytes, remember_key

    remember_key("sk-secret-key-0123")
    output = CommandOutput(SpillFolder(tmp_path), 5, 100, 1 << 20, MaskedBytes())
    text = b"line\n" * 50 + b"a sk-secret-key-0123 b sk-secret-key-012\n" + b"end sk-secret"
    for start in range(0, len(text), 7):
        output.feed(text[start : start + 7])
    output.end()
    assert output.path is not None
    assert output.path.read_bytes() == text.replace(b"sk-secret-key-0123", b"[key hidden]")
