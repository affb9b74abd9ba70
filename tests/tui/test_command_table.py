"""The table of commands: each has a handler, and a new one is one declaration."""

import inspect

import pytest

from agentcli.tui.commands.actions import AppAction, Command, Where
from agentcli.tui.commands.command_context import CommandContext
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.commands.table import ACTIONS, APP_ACTIONS, BY_NAME, SEARCH_HISTORY
from agentcli.tui.widgets.editor import Editor
from tests.tui.conftest import MakeApp
from tests.tui.drive import ready, screen, send, until


def test_each_command_has_a_handler_with_the_same_signature() -> None:
    for action in (*APP_ACTIONS, SEARCH_HISTORY):
        if isinstance(action, Command):
            handler = action.load()
            assert inspect.iscoroutinefunction(handler), action.name
            assert list(inspect.signature(handler).parameters) == ["context", "argument"], action.name
            assert handler.__name__ == action.name and handler.__doc__


def test_actions_of_the_app_are_those_with_a_handler() -> None:
    for action in ACTIONS:
        assert (action.where is Where.APP) == isinstance(action, AppAction | Command), action.name


async def test_a_new_command_is_one_declaration(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    greeted: list[str] = []

    async def greet(context: CommandContext, argument: str) -> None:
        greeted.append(argument)
        context.notify(f"hello {argument or 'you'}")

    command = Command("greet", Where.APP, "Say hello", ("f9",), load=lambda: greet, slash=True, argument="[name]")
    monkeypatch.setitem(BY_NAME, "greet", command)
    app = make_app()
    app.keymap = Keymap(actions=[*ACTIONS, command])
    async with app.run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        await send(pilot, "/greet Ada")
        await until(pilot, lambda: "hello Ada" in screen(pilot))
        await pilot.press("f9")
        await until(pilot, lambda: greeted == ["Ada", ""])
        app.query_one(Editor).put("")
        await pilot.press("/", "g", "r")
        await until(pilot, lambda: "/greet [name]" in screen(pilot))
        await pilot.press("escape", "f1", *"hello")
        await until(pilot, lambda: "Say hello" in screen(pilot) and "F9" in screen(pilot))
