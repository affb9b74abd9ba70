"""For random files and random edits, every byte outside the matched places is as it was."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentcli.agent.errors import ToolError
from agentcli.tools.edit.edit import edit_file
from agentcli.tools.edit.edit_diff import Change, diff_of
from agentcli.tools.edit.locate import Edit, EditPlacer
from agentcli.tools.edit.matching import Span, find_exact, without_overlaps
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.line_counter import LineCounter
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.files.text_file import TextEncoding, kind_of_data

ENDS = st.sampled_from(["\n", "\r\n", "\r"])
CHARS = st.sampled_from("aab bc\t“”\"'’–-éè\u00a0\u0301你💩$\\1{}[]()*.^|\u2028\ufeff")
TEXTS = st.text(CHARS, max_size=8)
BOMS = {"utf-8": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, TextEncoding]:
    """The content of a file with mixed line ends, in some encoding, with a BOM or stray bytes or neither."""
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-16-le", "utf-16-be"]))
    bom = draw(st.sampled_from([b"", BOMS[encoding]])) if encoding == "utf-8" else BOMS[encoding]
    lines = draw(st.lists(st.tuples(TEXTS, ENDS), max_size=12))
    parts = [(text + end).encode(encoding) for text, end in lines]
    if encoding == "utf-8":
        strays = st.sampled_from([b"", b"", b"", b"\xff", b"\xe9", b"\xc3", b"\xf0\x9f"])
        parts = [draw(strays) + part for part in parts]
    return bom + b"".join(parts), TextEncoding(encoding, bom)


def outside(data: bytes, spans: list[Span]) -> list[bytes]:
    edges = [0, *(edge for span in spans for edge in (span.start, span.end)), len(data)]
    return [data[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)]


@given(
    files(),
    st.lists(
        st.tuples(TEXTS | st.builds(lambda a, b: f"{a}\n{b}", TEXTS, TEXTS), TEXTS, st.booleans()),
        min_size=1,
        max_size=3,
    ),
)
def test_every_byte_outside_the_places_stays(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[bytes, TextEncoding], wanted: list[tuple[str, str, bool]]
) -> None:
    data, _ = file
    path = tmp_path_factory.getbasetemp() / "property.txt"
    path.write_bytes(data)
    edits = [Edit(old, new, replace_all) for old, new, replace_all in wanted]
    try:
        with FilePlace(path) as place:
            edit_file(place, edits, path.parent, ReadTracker())
    except ToolError:
        assert path.read_bytes() == data
        return
    is_ascii = all(edit.old_text.isascii() and edit.new_text.isascii() for edit in edits)
    placements = EditPlacer(data, kind_of_data(data, whole=not is_ascii), "f").place(edits)
    after = path.read_bytes()
    position = 0
    for kept, placement in zip(outside(data, [one.span for one in placements]), [*placements, None], strict=True):
        assert after[position : position + len(kept)] == kept
        position += len(kept)
        if placement is not None:
            assert after[position : position + len(placement.new)] == placement.new
            position += len(placement.new)
    assert position == len(after)


@given(files(), st.data())
def test_a_piece_of_the_file_that_is_there_once_is_always_found_and_replaced_just_there(
    file: tuple[bytes, TextEncoding], data: st.DataObject
) -> None:
    content, kind = file
    try:
        text = content[len(kind.bom) :].decode(kind.encoding)
    except UnicodeDecodeError:
        assume(False)
        return
    assume(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    old = text[start:end]
    assume(not text[:start].endswith("\r") or not old.startswith("\n"))
    assume(not old.endswith("\r") or not text[end:].startswith("\n"))
    assume(sum(text.startswith(old, at) for at in range(len(text))) == 1 and not old.startswith("\ufeff"))
    (placement,) = EditPlacer(content, kind, "f").place([Edit(old, "NEW")])
    before = len(kind.bom) + len(text[:start].encode(kind.encoding))
    assert placement.span == Span(before, before + len(old.encode(kind.encoding)))
    new = placement.new.decode(kind.encoding)
    assert new.strip("\r\n") == "NEW"
    # A line end that only the old text has stays.
    assert len(new.replace("\r\n", "\n")) - 3 <= old.startswith(("\n", "\r")) + old.endswith(("\n", "\r"))


@given(
    st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=8),
    st.lists(st.sampled_from(["a", "b", "ab", ""]), min_size=1, max_size=3),
    st.data(),
)
def test_places_with_any_line_ends_are_those_of_the_same_text_with_lf(
    lines: list[str], wanted: list[str], data: st.DataObject
) -> None:
    ends = [data.draw(st.sampled_from(["\n", "\r\n"])) for _ in lines]
    content = "".join(line + end for line, end in zip(lines, ends, strict=True))
    old = "\n".join(wanted)
    plain = content.replace("\r\n", "\n")
    expected = sum(plain.startswith(old, at) for at in range(len(plain))) if old else 0
    assume(old and (old not in content))
    found = find_exact(content.encode(), TextEncoding("utf-8"), old, most=1000)
    assert len(found) == expected
    assert all(content.encode()[span.start : span.end].replace(b"\r\n", b"\n") == old.encode() for span in found)


@given(st.lists(st.sampled_from(["same", "a", "b", ""]), max_size=60), st.booleans(), st.data())
def test_a_unified_diff_turns_the_old_file_into_the_new_one(lines: list[str], ends: bool, data: st.DataObject) -> None:
    content = "\n".join(lines).encode() + (b"\n" if ends and lines else b"")
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6)))
    spans = without_overlaps([Span(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False)])
    changes = [
        Change(span.start, span.end, data.draw(st.sampled_from([b"", b"new", b"new\n", b"\n", b"a\nb"])))
        for span in spans
    ]
    after, position = b"", 0
    for change in changes:
        after += content[position : change.start] + change.new
        position = change.end
    after += content[position:]
    diff = diff_of(LineCounter(content), TextEncoding("utf-8"), changes, "f")
    assert apply(content, diff.patch) == after
    assert (diff.patch == "") == (content == after)
    assert (diff.first_changed_line is None) == (content == after)


def apply(content: bytes, patch: str) -> bytes:
    """What a strict reader of unified diffs makes of it."""
    old = content.decode().splitlines(keepends=True)
    new: list[str] = []
    position = 0
    for line in _joined(patch.splitlines(keepends=True)[2:]):
        if line.startswith("@@"):
            start = int(line.split()[1].split(",")[0][1:])
            length = int(line.split()[1].split(",")[1]) if "," in line.split()[1] else 1
            first = start - 1 if length else start
            new += old[position:first]
            position = first
        elif line[0] == " ":
            assert old[position] == line[1:]
            new.append(line[1:])
            position += 1
        elif line[0] == "-":
            assert old[position] == line[1:]
            position += 1
        else:
            new.append(line[1:])
    return "".join([*new, *old[position:]]).encode()


def _joined(lines: list[str]) -> list[str]:
    joined: list[str] = []
    for line in lines:
        if line.startswith("\\"):
            joined[-1] = joined[-1].removesuffix("\n")
        else:
            joined.append(line)
    return joined


@given(st.binary(max_size=200), st.text(max_size=4), st.text(max_size=4))
def test_any_bytes_and_any_texts_end_in_a_placement_or_an_error(data: bytes, old: str, new: str) -> None:
    for kind in (
        kind_of_data(data, whole=True),
        TextEncoding("utf-8"),
        TextEncoding("utf-16-le", b"\xff\xfe"),
        TextEncoding("gb18030"),
    ):
        if data.startswith(kind.bom):
            try:
                placed = EditPlacer(data, kind, "f").place([Edit(old, new)])
            except ToolError:
                continue
            assert all(0 <= one.span.start <= one.span.end <= len(data) for one in placed)
