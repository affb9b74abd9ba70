"""What the documentation says of names and messages is what the code has."""

import re
from typing import get_args

import pytest

from agentcli.config.settings import Settings
from agentcli.headless.rpc.commands import AnyCommand
from agentcli.headless.serialized_events import Delta, event_types
from agentcli.sessions.entries import SessionHeader
from agentcli.tui.colors.themes import Colors, available
from agentcli.tui.commands.table import ACTIONS, APP_ACTIONS
from tests.docs.paths import DOCS, ROOT


def page(name: str) -> str:
    return (DOCS / name).read_text()


def named(text: str) -> set[str]:
    """What stands in backquotes, up to an argument."""
    return {found.split()[0] for found in re.findall(r"`([^`\n]+)`", text)}


def test_every_rpc_command_is_listed():
    commands = {str(command.__struct_config__.tag) for command in get_args(AnyCommand)}
    assert commands - named(page("rpc.md")) == set()


def test_every_slash_command_of_the_app_is_listed():
    commands = {f"/{action.name}" for action in APP_ACTIONS if getattr(action, "slash", False)}
    assert commands - named(page("app.md")) == set()


def test_the_actions_whose_keys_are_changed_exist():
    (table,) = re.findall(r"^\[keys\]\n(.*?)^```", page("app.md"), re.M | re.S)
    assert set(re.findall(r"^(\w+) =", table, re.M)) <= {action.name for action in ACTIONS}


def test_every_theme_and_color_is_listed():
    assert {*available(), *Colors.__struct_fields__} - named(page("themes.md")) - set(
        re.findall(r"(\w+) = \"", page("themes.md"))
    ) == set()


def test_every_setting_is_in_the_example_file():
    example = (ROOT / ".agentcli.example.toml").read_text()
    names = [name for name in Settings.__struct_fields__ if name != "warnings"]
    assert [name for name in names if not re.search(rf"^# \[?{name}\b", example, re.M)] == []


MESSAGES = re.findall(r"^\| `([^`\n]+)` \|", page("troubleshooting.md"), re.M)


@pytest.fixture(scope="module")
def code() -> str:
    """The code, with literals that stand below each other as one."""
    files = sorted((ROOT / "agentcli").rglob("*.py"))
    return re.sub(r"\"\s*\n?\s*f?\"", "", "\n".join(file.read_text() for file in files))


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_of_the_troubleshooting_page_exist(message: str, code: str):
    parts = [part.strip(" ():;.,`") for part in re.split(r"[…:(\d]+", message)]
    assert any(part in code for part in parts if len(part) >= 4)


def test_every_event_is_described_with_its_fields():
    text = page("development/events.md")
    for event in [*event_types(), *get_args(Delta)]:
        name = str(event.__struct_config__.tag)
        (line,) = [
            line for line in text.splitlines() if line.startswith("|") and f"`{name}`" in line.partition(" |")[0]
        ] or [line for line in text.splitlines() if line.startswith("| `message_update`")]
        fields = [] if event is SessionHeader else event.__struct_fields__
        assert {name, *fields} - named(line) == set(), name
