"""What bytes from the terminal mean."""

import time

import pytest
from textual import constants, events

from agentcli.tui.terminal import terminal
from agentcli.tui.terminal.background import BackgroundReported
from agentcli.tui.terminal.keys import KeyParser
from agentcli.tui.terminal.terminal import Input

KEYS = [
    ("\r", ("enter", "\r")),
    ("\x1b\r", ("alt+enter", None)),
    ("\x1b[13;3u", ("alt+enter", None)),
    ("\x1b[27;3;13~", ("alt+enter", None)),
    ("\x1b[13;2u", ("shift+enter", None)),
    ("\x1b[27;2;13~", ("shift+enter", None)),
    ("\x1b[13;5u", ("ctrl+enter", None)),
    ("\x1b[32;2u", ("shift+space", " ")),
    ("\x1b[32u", ("space", " ")),
    ("\x1b[65;2u", ("A", "A")),
    ("\x1b[27;2;65~", ("A", "A")),
    ("\x1b[97;65u", ("a", "a")),
    ("\x1b[99;5u", ("ctrl+c", None)),
    ("\x1b[27;5;99~", ("ctrl+c", None)),
    ("\x1b[99;69u", ("ctrl+c", None)),
    ("\x1b[99;133u", ("ctrl+c", None)),
    ("\x1b[97;1:1u", ("a", "a")),
    ("\x1b[97:65;2;65u", ("A", "A")),
    ("\x1b[1;2D", ("shift+left", None)),
    ("\x1b[1;5:1C", ("ctrl+right", None)),
    ("\x1b[Z", ("shift+tab", None)),
    ("é", ("é", "é")),
]

NOTHING = [
    "\x1b[97;1:3u",
    "\x1b[1;1:3A",
    "\x1b[13;2:3u",
    "\x1b[<35;NaN;NaNM",
    "\x1b[?62;22c",
    "\x1b[>1;10;0c",
    "\x1b[9999~",
]


def read(*chunks: str) -> list[tuple[str, str | None]]:
    """The keys and pastes in these chunks of input, ended by an `x`."""
    reader = Input(KeyParser())
    return [item for chunk in chunks for message in reader.feed(chunk) if (item := summary_of(message))]


def summary_of(message: object) -> tuple[str, str | None] | None:
    match message:
        case events.Key():
            return message.key, message.character
        case events.Paste():
            return "paste", message.text
        case BackgroundReported():
            return "background", "light" if message.is_light else "dark"
    return None


@pytest.mark.parametrize(("data", "key"), KEYS, ids=lambda value: repr(value))
def test_a_key_is_read_right_and_alone(data: str, key: tuple[str, str | None]) -> None:
    assert read(data + "x") == [key, ("x", "x")]


@pytest.mark.parametrize("data", NOTHING, ids=repr)
def test_what_is_no_key_types_nothing(data: str) -> None:
    assert [key for key in read(data + "x") if key[1]] == [("x", "x")]


def test_escape_alone_is_a_key_once_nothing_follows() -> None:
    reader = Input(KeyParser())
    assert list(reader.feed("\x1b")) == []
    assert [message.key for message in reader.tick() if isinstance(message, events.Key)] == ["escape"]


def test_escape_and_a_letter_at_once_are_one_key_that_types_nothing() -> None:
    reader = Input(KeyParser())
    found = [*reader.feed("\x1b"), *reader.feed("x")]
    time.sleep(constants.ESCAPE_DELAY * 1.2)
    found += reader.tick()
    assert [(key.key, key.character) for key in found if isinstance(key, events.Key)] == [("alt+x", None)]


@pytest.mark.parametrize(
    "data", ["\x1b[57441;2u", "\x1b[I", "\x1b[O", "\x1b[24;80R", "\x1b[<35;10;10M", "\x1b[?2026;2$y"]
)
def test_reports_and_lone_modifiers_type_nothing(data: str) -> None:
    assert [key for key in read(data + "x") if key[1]] == [("x", "x")]


def test_a_paste_is_whole_however_it_is_cut() -> None:
    text = "line one\r\nline \x1b[31mtwo é"
    data = f"a\x1b[200~{text}\x1b[201~"
    expected = [("a", "a"), ("paste", text)]
    for cut in range(1, len(data)):
        assert read(data[:cut], data[cut:]) == expected
    assert read(*data) == expected


def quiet(reader: Input) -> None:
    """Nothing has come for a while."""
    reader._burst_at -= 1.0
    reader._paste_at -= 1.0


def parsed(reader: Input, *chunks: str) -> list[tuple[str, str | None]]:
    return [item for chunk in chunks for message in reader.feed(chunk) if (item := summary_of(message))]


def ticked(reader: Input) -> list[tuple[str, str | None]]:
    return [item for message in reader.tick() if (item := summary_of(message))]


AFTER_A_PASTE = [
    ("!touch pwned\r", "!touch pwned\n"),
    ("/quit\r", "/quit\n"),
    ("\r", "\n"),
    ("y", "y"),
    ("\x1b[13u\x1b[13;5u\x1b\r", "\n\n\n"),
    ("a\x1b[A\x1b[1;5C\x1b[Zb\tc\x1bOD\x1b[97u", "ab\tca"),
    ("\x03\x04\x07x", "\x03\x04\x07x"),
    ("\x1b", ""),
    ("x\x1b[", "x"),
]


@pytest.mark.parametrize(("data", "text"), AFTER_A_PASTE, ids=lambda value: repr(value))
def test_what_comes_in_one_go_with_a_paste_is_pasted_too_however_it_is_cut(data: str, text: str) -> None:
    paste = "\x1b[200~one\x1b[201~"
    for cut in range(1, len(paste + data)):
        reader = Input(KeyParser())
        found = parsed(reader, (paste + data)[:cut], (paste + data)[cut:])
        time.sleep(constants.ESCAPE_DELAY * 1.2 if data.endswith(("\x1b", "[")) and cut == 1 else 0)
        found += ticked(reader)
        assert {kind for kind, _ in found} == {"paste"}
        assert "".join(pasted or "" for _, pasted in found).replace("\r", "\n") == "one" + text
    reader = Input(KeyParser())
    assert {kind for kind, _ in parsed(reader, *paste, *data) + ticked(reader)} == {"paste"}


def test_a_burst_without_marks_goes_on_as_one_whatever_is_in_it() -> None:
    lines = "a line of some length\rand another"
    assert read(lines, "\x1b[B\rmore", "\r") == [("paste", lines), ("paste", "\nmore"), ("paste", "\r")]


def test_reports_of_the_terminal_are_read_right_after_a_paste() -> None:
    reader = Input(KeyParser())
    found = [*reader.feed("\x1b[200~x\x1b[201~a\x1b[<0;3;3M\x1b[Ib\x1b]11;rgb:ffff/ffff/ffff\x07c")]
    kinds = [type(message).__name__ for message in found]
    assert kinds == ["Paste", "Paste", "MouseDown", "AppFocus", "Paste", "BackgroundReported", "Paste"]


def test_keys_are_keys_again_when_nothing_came_for_a_moment() -> None:
    reader = Input(KeyParser())
    parsed(reader, "\x1b[200~one\x1b[201~two\r")
    quiet(reader)
    assert parsed(reader, "\r") == [("enter", "\r")]


@pytest.mark.parametrize("key", ["\x03", "\x1b[27u", "\x1b[99;5u", "\x1b[27;5;99~", "\x1b"], ids=repr)
def test_escape_and_ctrl_c_end_a_paste_that_has_no_end_and_keep_it(key: str) -> None:
    reader = Input(KeyParser())
    assert parsed(reader, "\x1b[200~one\rtwo") == []
    quiet(reader)
    assert parsed(reader, key) + ticked(reader) == [("paste", "one\rtwo")]
    assert parsed(reader, "\x04") == [("ctrl+d", "\x04")]


def test_a_paste_without_an_end_is_over_after_a_while() -> None:
    reader = Input(KeyParser())
    assert parsed(reader, "\x1b[200~one\rtwo") == ticked(reader) == []
    quiet(reader)
    assert ticked(reader) == []
    quiet(reader)
    assert ticked(reader) == [("paste", "one\rtwo")]
    assert parsed(reader, "\r") == [("enter", "\r")]


def test_what_looks_like_such_a_key_within_a_paste_is_pasted() -> None:
    assert read("\x1b[200~one", "\x03", "two\x1b", "\x1b[27utwo\x1b[201~") == [("paste", "one\x03two\x1b\x1b[27utwo")]


def test_the_end_of_a_paste_may_come_late_in_two_parts() -> None:
    reader = Input(KeyParser())
    assert parsed(reader, "\x1b[200~one\x1b") + ticked(reader) == [("paste", "one")]
    assert parsed(reader, "[201~") == []
    assert parsed(reader, "x") == [("x", "x")]


def test_two_pastes_and_an_empty_one() -> None:
    assert read("\x1b[200~\x1b[201~\x1b[200~x\x1b[201~") == [("paste", ""), ("paste", "x")]


def test_a_burst_with_lines_in_it_is_a_paste() -> None:
    text = "a line of some length\rand another of the same length\rand a third one"
    assert read(text) == [("paste", text)]


def test_a_burst_goes_on_over_several_reads() -> None:
    first, second = "a line of some length\rand another of the same length\rand the start of a th", "ird one\r"
    assert read(first, second) == [("paste", first), ("paste", second)]


@pytest.mark.parametrize(
    "data", ["hello\r", "hello\r\r", "one\rtwo\r", "a long line that ends, but has no other line end in it at all\r"]
)
def test_typing_is_not_a_paste(data: str) -> None:
    assert all(key != "paste" for key, _ in read(data))


ANSWERS = [
    ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "light"),
    ("\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", "dark"),
    ("\x1b]11;rgb:fd/f6/e3\x07", "light"),
    ("\x1b]11;rgba:0000/2b2b/3636/ffff\x07", "dark"),
]


@pytest.mark.parametrize(("answer", "background"), ANSWERS, ids=lambda value: repr(value))
def test_the_terminals_answer_is_no_typing_however_it_is_cut(answer: str, background: str) -> None:
    expected = [("a", "a"), ("background", background), ("b", "b")]
    data = f"a{answer}b"
    for cut in range(1, len(data)):
        assert read(data[:cut], data[cut:]) == expected
    assert read(*data) == expected


def test_an_answer_in_parts_with_pauses_is_no_typing(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, background = ANSWERS[0]
    for cut in range(2, len(answer)):
        reader = Input(KeyParser())
        found = [*reader.feed(answer[:cut]), *reader.tick(), *reader.tick(), *reader.feed(answer[cut:])]
        assert [summary_of(message) for message in found] == [("background", background)]


def test_an_answer_that_never_ends_is_dropped_and_what_is_typed_after_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = Input(KeyParser())
    assert list(reader.feed("\x1b]11;rgb:ffff/ff")) == []
    monkeypatch.setattr(terminal, "ANSWER_S", 0.0)
    assert list(reader.tick()) == []
    assert [summary_of(message) for message in reader.feed("fx")] == [("f", "f"), ("x", "x")]


@pytest.mark.parametrize(
    "answer", ["\x1b]11;?\x07", "\x1b]11;rgb:\x07", "\x1b]10;rgb:0/0/0\x1b\\", "\x1b]52;c;aGk=\x07"]
)
def test_other_answers_are_nothing(answer: str) -> None:
    assert read(f"a{answer}b") == [("a", "a"), ("b", "b")]


def test_alt_bracket_is_a_key_and_what_follows_is_typed() -> None:
    reader = Input(KeyParser())
    reader._began_at -= 60
    assert list(reader.feed("\x1b]")) == []
    found = list(reader.tick())
    time.sleep(constants.ESCAPE_DELAY * 1.2)
    found += reader.tick()
    assert [summary_of(message) for message in found] == [("right_square_bracket", None)]
    typed = [*reader.feed("\x1b]1"), *reader.feed("1;h"), *reader.tick()]
    time.sleep(constants.ESCAPE_DELAY * 1.2)
    typed += reader.tick()
    assert [character for _, character in filter(None, map(summary_of, typed)) if character] == list("11;h")


def test_an_answer_before_a_paste_and_unmarked_lines_after_it() -> None:
    answer, background = ANSWERS[0]
    lines = "a line of some length\rand another of the same length\rand a third one"
    assert read(answer + "\x1b[200~x\x1b[201~") == [("background", background), ("paste", "x")]
    assert read(answer + lines) == [("background", background), ("paste", lines)]
    assert read("\x1b]11;rgb:" + "\x1b[200~x\x1b[201~")[-1] == ("paste", "x")
