"""Lines of commands: LF ends one and nothing else does, however the bytes come."""

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.headless.stdin import lines


async def read(pieces: list[bytes], longest: int = 1000) -> list[bytes | None]:
    """What `lines` makes of these writes."""
    reading, writing = os.pipe()

    async def write() -> None:
        for piece in pieces:
            await asyncio.to_thread(os.write, writing, piece)
        os.close(writing)

    async def take() -> list[bytes | None]:
        return [line async for line in lines(reading, longest)]

    found, _ = await asyncio.gather(take(), write())
    os.close(reading)
    return found


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ([b"one\ntwo\n"], [b"one", b"two"]),
        ([b"o", b"n", b"e\nt", b"wo", b"\n"], [b"one", b"two"]),
        (["a\u2028b\u0085c\vd\fe\x1cf\r\n".encode()], ["a\u2028b\u0085c\vd\fe\x1cf\r".encode()]),
        ([b"\xe2\x80", b"\xa8\n"], [b"\xe2\x80\xa8"]),
        ([b"\n\n \nx\n\n"], [b"x"]),
        ([b"the end has no LF"], [b"the end has no LF"]),
        ([b"nul \0 is data\n"], [b"nul \0 is data"]),
        ([], []),
        ([b"y" * 1001 + b"\nshort\n"], [None, b"short"]),
        ([b"y" * 700, b"y" * 700, b"y" * 700, b"\nshort\n"], [None, b"short"]),
        ([b"y" * 700, b"y" * 700], [None]),
        ([b"y" * 1000 + b"\n"], [b"y" * 1000]),
    ],
)
async def test_lf_ends_a_line_and_nothing_else(pieces: list[bytes], found: list[bytes | None]):
    assert await read(pieces) == found


@given(st.lists(st.binary(max_size=30), max_size=6))
def test_where_the_pieces_are_cut_does_not_matter(pieces: list[bytes]):
    whole = [line for line in b"".join(pieces).split(b"\n") if line.strip()]
    assert asyncio.run(read(pieces)) == whole


async def test_a_file_is_read_too(tmp_path: Path):
    path = tmp_path / "commands"
    path.write_bytes(b"one\ntwo\n" * 20_000)
    descriptor = os.open(path, os.O_RDONLY)
    assert len([line async for line in lines(descriptor, 100)]) == 40_000
    os.close(descriptor)
