"""Known keys are taken out of whatever is stored or shown."""

from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec import Struct

from agentcli.agent.messages import TextContent, ToolCall, UserMessage
from agentcli.config.masking import MASK, hold_back, mask, mask_data, password_in, remember_environment, remember_key

KEY = "sk-CANARY-1234567890"


class Details(Struct):
    lines: list[str]
    facts: dict[str, object]


def test_nothing_is_masked_before_a_key_is_known():
    assert mask(f"x {KEY}") == f"x {KEY}"


def test_a_known_key_is_masked_wherever_it_stands():
    remember_key(f" {KEY}\n")
    assert mask(f"a={KEY}&b={KEY}") == f"a={MASK}&b={MASK}"


def test_a_key_that_holds_another_one_goes_as_a_whole():
    remember_key("sk-CANARY")
    remember_key(KEY)
    assert mask(KEY) == MASK


@pytest.mark.parametrize("value", ["", "   ", "short", "1234567"])
def test_a_short_value_is_no_secret(value: str):
    remember_key(value)
    assert mask(f"text {value} text") == f"text {value} text"


def test_data_is_masked_however_deep_and_left_alone_otherwise():
    remember_key(KEY)
    message = UserMessage([TextContent(f"the key {KEY}")], 5)
    masked = mask_data(message)
    assert masked == UserMessage([TextContent(f"the key {MASK}")], 5)
    assert mask_data(masked) is masked
    details = mask_data(Details([KEY], {KEY: {"b": (KEY, 1, None)}}))
    assert details == Details([MASK], {MASK: {"b": (MASK, 1, None)}})
    assert mask_data(ToolCall("1", "bash", {"command": f"echo {KEY}"})).arguments == {"command": f"echo {MASK}"}
    assert mask_data(None) is None


class Point(NamedTuple):
    x: str


def test_data_that_json_cannot_say_is_masked_too():
    remember_key(KEY)
    odd: dict[str, object] = {"path": Path(KEY), "point": Point(KEY), "half": "\ud800", "n": 1, "function": len}
    odd["itself"] = odd
    masked = mask_data(odd)
    assert KEY not in str(masked)
    assert (masked["path"], masked["point"], masked["n"]) == (MASK, (MASK,), 1)
    assert mask_data(UserMessage([TextContent(f"\ud800 {KEY}")], 5)) == UserMessage([TextContent(f"\ufffd {MASK}")], 5)


def test_passwords_of_proxies_are_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://user:pw-CANARY-1@proxy:3128")
    remember_environment([])
    assert mask("407 from http://user:pw-CANARY-1@proxy") == f"407 from http://user:{MASK}@proxy"


@pytest.mark.parametrize(
    ("url", "password"),
    [("http://u:p@h", "p"), ("http://h", ""), ("http://u@h", ""), ("", ""), ("http://u:a@b@h", "a@b")],
)
def test_the_password_in_an_address(url: str, password: str):
    assert password_in(url) == password


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("nothing", 0),
        ("it is s", 1),
        ("it is sk-CAN", 6),
        (KEY[:-1], len(KEY) - 1),
        ("sk-sk-", 3),
        ("", 0),
        ("sk-x", 0),
    ],
)
def test_what_may_become_a_key_is_held_back_while_a_text_grows(text: str, held: int):
    remember_key(KEY)
    assert hold_back(text) == held
