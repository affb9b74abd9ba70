"""Server-sent events: any cut, any line end, and nothing that is not a line end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.errors import BadResponseError
from agentcli.providers.http.sse import SseParser


def parse(data: bytes, size: int = 0) -> list[tuple[bytes, bytes]]:
    parser = SseParser()
    step = size or len(data) or 1
    events = [event for start in range(0, len(data), step) for event in parser.feed(data[start : start + step])]
    return events + parser.close()


CASES = {
    "one event": (b"data: a\n\n", [(b"", b"a")]),
    "a name": (b"event: x\ndata: a\n\ndata: b\n\n", [(b"x", b"a"), (b"", b"b")]),
    "no blank after the colon": (b"data:a\n\n", [(b"", b"a")]),
    "only one blank is taken": (b"data:  a\n\n", [(b"", b" a")]),
    "lines of data are joined": (b"data: a\ndata: b\n\n", [(b"", b"a\nb")]),
    "an empty line of data": (b"data\ndata: b\n\n", [(b"", b"\nb")]),
    "comments and other fields": (b": hi\nid: 1\nretry: 5\nwhat: x\ndata: a\n\n: bye\n\n", [(b"", b"a")]),
    "no blank line at the end": (b"data: a\n\ndata: b", [(b"", b"a"), (b"", b"b")]),
    "no line end after [DONE]": (b"data: [DONE]", [(b"", b"[DONE]")]),
    "an event without data is none": (b"event: x\n\ndata: a\n\n", [(b"", b"a")]),
    "CR LF": (b"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [(b"x", b"a"), (b"", b"b")]),
    "CR": (b"event: x\rdata: a\r\rdata: b\r\r", [(b"x", b"a"), (b"", b"b")]),
    "mixed line ends": (b"data: a\r\ndata: b\n\rdata: c\r\n\n", [(b"", b"a\nb"), (b"", b"c")]),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [(b"", b"a")]),
    "separators of Unicode are no line ends": (
        "data: a\u2028b\u2029c\x85d\x0be\n\n".encode(),
        [(b"", "a\u2028b\u2029c\x85d\x0be".encode())],
    ),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_events_are_the_same_in_any_writes(name: str, size: int) -> None:
    data, expected = CASES[name]
    assert parse(data, size) == expected


LINES = st.lists(
    st.sampled_from(
        [b"data: a", b"data:b", b"data", b"event: n", b": c", b"", b"", b"id: 3", "data: é\u2028💩".encode()]
    ),
    max_size=12,
)


@given(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
def test_cutting_changes_nothing(lines: list[bytes], line_end: bytes, data: st.DataObject) -> None:
    whole = line_end.join(lines) + line_end
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    parser = SseParser()
    events = [
        event
        for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)
        for event in parser.feed(whole[start:end])
    ]
    assert events + parser.close() == parse(whole.replace(line_end, b"\n"))


@pytest.mark.parametrize("line_end", [b"", b"\n"])
def test_an_event_without_an_end_is_refused(line_end: bytes) -> None:
    parser = SseParser(limit=1000)
    with pytest.raises(BadResponseError, match="one event of more than"):
        for _ in range(20):
            parser.feed(b"data: " + b"x" * 100 + line_end)


def test_many_events_are_no_long_event() -> None:
    parser = SseParser(limit=1000)
    assert sum(len(parser.feed(b"data: " + b"x" * 400 + b"\n\n")) for _ in range(20)) == 20


def test_one_byte_writes_of_a_large_event_cost_no_more_than_once_each() -> None:
    parser = SseParser()
    data = b"data: " + b"x" * 200_000 + b"\n\n"
    events = [event for place in range(len(data)) for event in parser.feed(data[place : place + 1])]
    assert events == [(b"", b"x" * 200_000)]
