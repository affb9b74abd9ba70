"""Which key does what, and what the config may say of it."""

import pytest

from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap, parsed_key, shown_key
from agentcli.tui.commands.table import ACTIONS

BY_NAME = {action.name: action for action in ACTIONS}


def test_names_are_given_once_and_keys_once_a_place() -> None:
    assert len(BY_NAME) == len(ACTIONS)
    for places in [
        (Where.EDITOR, Where.APP),
        (Where.LIST, Where.SESSIONS),
        (Where.LIST, Where.TREE),
        *[(w,) for w in Where],
    ]:
        keys = [key for action in ACTIONS if action.where in places for key in action.keys]
        assert sorted(set(keys)) == sorted(keys)


def test_every_default_key_is_one_that_a_user_could_write() -> None:
    for action in ACTIONS:
        for key in action.keys:
            assert parsed_key(key) == key


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("ctrl+g", "ctrl+g"),
        ("Ctrl + G", "ctrl+g"),
        ("shift+ctrl+p", "ctrl+shift+p"),
        ("esc", "escape"),
        ("Return", "enter"),
        ("PgUp", "pageup"),
        ("shift+a", "A"),
        ("?", "question_mark"),
        ("ctrl+/", "ctrl+slash"),
        ("ctrl+_", "ctrl+underscore"),
        ("alt++", "alt+plus"),
        ("f12", "f12"),
        ("option+enter", "alt+enter"),
        ("K", "K"),
        ("left_square_bracket", "left_square_bracket"),
    ],
)
def test_a_key_may_be_written_as_people_write_it(written: str, key: str) -> None:
    assert parsed_key(written) == key


@pytest.mark.parametrize("written", ["", "ctlr+g", "ctrl+", "ctrl+nothing", "g+ctrl", "f99", "++a"])
def test_what_is_no_key_is_none(written: str) -> None:
    assert parsed_key(written) is None


def test_a_key_is_shown_as_people_write_it() -> None:
    assert [shown_key(key) for key in ("ctrl+g", "alt+enter", "pageup", "escape", "K", "y", "shift+tab")] == [
        "Ctrl+G",
        "Alt+Enter",
        "PageUp",
        "Esc",
        "K",
        "y",
        "Shift+Tab",
    ]


def test_an_action_gets_other_keys() -> None:
    keymap = Keymap({"external_editor": ["ctrl+e", "f4"], "tree": []}, ACTIONS)
    assert keymap.keys("external_editor") == ("ctrl+e", "f4")
    assert keymap.action("ctrl+g", Where.EDITOR) is None
    assert keymap.action("f4", Where.EDITOR) is BY_NAME["external_editor"]
    assert keymap.keys("tree") == ()
    assert keymap.problems == []


def test_a_rebound_key_is_taken_from_the_action_that_had_it() -> None:
    keymap = Keymap({"external_editor": "ctrl+e", "help": "ctrl+a"}, ACTIONS)
    assert keymap.keys("line_end") == ("end",)
    assert keymap.keys("line_start") == ("home",)
    assert keymap.action("ctrl+e", Where.EDITOR) is BY_NAME["external_editor"]


def test_a_key_in_a_list_is_not_taken_from_the_editor() -> None:
    assert Keymap({"list_up": "ctrl+g"}).keys("external_editor") == ("ctrl+g",)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"submitt": "enter"}, "[keys] submitt: there is no such action (did you mean submit?)"),
        ({"submit": "ctlr+g"}, "[keys] submit: 'ctlr+g' is no key"),
        ({"submit": "f3", "new_line": "f3"}, "[keys] new_line: f3 is given to submit already"),
    ],
)
def test_what_cannot_be_is_told_and_changes_nothing(changes: dict[str, str], problem: str) -> None:
    keymap = Keymap(changes, ACTIONS)
    assert keymap.problems[0].startswith(problem)
    assert keymap.keys("new_line") == BY_NAME["new_line"].keys
