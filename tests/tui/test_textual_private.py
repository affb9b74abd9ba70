"""Contracts of the private names of Textual that `agentcli.tui.terminal.textual_private` uses: one test a name.

After an upgrade of Textual, what fails here has to be changed there, and nowhere else.
"""

import ast
import re
from pathlib import Path

import pytest
import textual
from rich.text import Text
from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.driver import Driver
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

import agentcli.tui
from agentcli.tui.terminal.terminal import Terminal
from agentcli.tui.terminal.textual_private import (
    PrivateApp,
    PrivateDriver,
    PrivateTextArea,
    SequenceParser,
    set_virtual_size,
)


def keys(parser: XTermParser, text: str) -> list[str]:
    return [event.key for event in parser.feed(text) if isinstance(event, events.Key)]


def test_sequence_to_key_events_is_called_for_each_sequence() -> None:
    seen: list[tuple[str, bool]] = []

    class Parser(SequenceParser):
        def sequence_to_keys(self, sequence: str, alt: bool = False):
            seen.append((sequence, alt))
            yield from super().sequence_to_keys(sequence, alt)

    assert keys(Parser(), "a\x1b[A\x1b[1;5A") == ["a", "up", "ctrl+up"]
    assert {"a", "\x1b[A", "\x1b[1;5A"} <= {sequence for sequence, _ in seen}


def test_awaiting_has_a_timeout_within_a_sequence_only() -> None:
    parser = SequenceParser()
    assert not parser.is_within_sequence
    for text, within in (("a", False), ("\x1b", True), ("[", True), ("A", False)):
        list(parser.feed(text))
        assert parser.is_within_sequence is within, text


async def test_writer_thread_is_none_until_the_driver_starts() -> None:
    driver = PrivateDriver(App())
    assert not driver.has_writer
    driver._writer_thread = object()  # type: ignore[assignment]
    assert driver.has_writer
    assert issubclass(Terminal, PrivateDriver)


class Crashing(PrivateApp):
    def crash_report(self, error: Exception) -> Text:
        return Text(f"report: {error}")

    def on_key(self, event: events.Key) -> None:
        raise RuntimeError("broken")


async def test_driver_is_none_before_the_app_runs_and_writes_while_it_does() -> None:
    app = Crashing()
    app.write_to_terminal("too early")
    async with app.run_test():
        written: list[str] = []
        assert isinstance(app._driver, Driver)
        app._driver.write = written.append  # type: ignore[method-assign]
        app.write_to_terminal("\x07")
        assert written == ["\x07"]


async def test_an_unhandled_exception_reaches_fatal_error_and_the_exit_renderables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = Crashing()
    with pytest.raises(RuntimeError, match="broken"):
        async with app.run_test() as pilot:
            await pilot.press("a")
    assert str(app._exception) == "broken"
    app._print_error_renderables()
    assert capsys.readouterr().err == "report: broken\n"
    assert not app.is_running  # _close_messages_no_wait


class Areas(App[None]):
    def compose(self):
        yield PrivateTextArea("one\ntwo")
        yield ScrollView(id="view")


async def test_replace_via_keyboard_puts_the_cursor_behind_and_can_be_undone() -> None:
    async with Areas().run_test() as pilot:
        area = pilot.app.query_one(PrivateTextArea)
        area.type_over("1", (0, 0), (0, 3))
        assert (area.text, area.cursor_location) == ("1\ntwo", (0, 1))
        area.undo()
        assert area.text == "one\ntwo"


async def test_delete_via_keyboard_and_delete_cursor_line_return_what_they_took() -> None:
    async with Areas().run_test() as pilot:
        area = pilot.app.query_one(PrivateTextArea)
        result = area.delete_as_typed((0, 0), (0, 2))
        assert result is not None and (result.replaced_text, area.text) == ("on", "e\ntwo")
        result = area.delete_cursor_line()
        assert result is not None and (result.replaced_text, area.text) == ("e\n", "two")


async def test_validate_selection_is_asked_for_each_new_selection() -> None:
    class Upright(PrivateTextArea):
        def adjust_selection(self, selection: Selection) -> Selection:
            return Selection.cursor(selection.start)

    class WithUpright(App[None]):
        def compose(self):
            yield Upright("one\ntwo")

    async with WithUpright().run_test() as pilot:
        area = pilot.app.query_one(Upright)
        area.selection = Selection((0, 1), (1, 2))
        assert area.selection == Selection.cursor((0, 1))
        area.selection = Selection((7, 7), (9, 9))
        assert area.selection == Selection.cursor((1, 0)), "it is within the document"


async def test_recompute_cursor_offset_is_not_asked_past_the_end() -> None:
    async with Areas().run_test() as pilot:
        area = pilot.app.query_one(PrivateTextArea)
        area.move_cursor((1, 0))
        area.document.replace_range((0, 0), (1, 3), "")
        area._recompute_cursor_offset()
        with pytest.raises(IndexError):
            TextArea._recompute_cursor_offset(area)


async def test_scroll_update_takes_the_new_size_without_a_layout() -> None:
    async with Areas().run_test() as pilot:
        view = pilot.app.query_one("#view", ScrollView)
        set_virtual_size(view, Size(10, 500))
        assert view.virtual_size == Size(10, 500)
        assert view.vertical_scrollbar.window_virtual_size == 500


def private_names_of_textual() -> set[str]:
    source = "".join(path.read_text() for path in Path(textual.__file__).parent.rglob("*.py"))
    return set(re.findall(r"(?:def |self\.)(_[a-z]\w*)", source))


def test_no_other_module_uses_a_private_name_of_textual() -> None:
    private = private_names_of_textual()
    for path in Path(agentcli.tui.__file__).parent.rglob("*.py"):
        if path.name == "textual_private.py":
            continue
        tree = ast.parse(path.read_text())
        assert "textual._" not in path.read_text(), path
        own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        own |= {
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in private - own and isinstance(node.value, ast.expr):
                assert ast.unparse(node) == "os._exit", (path, ast.unparse(node))
