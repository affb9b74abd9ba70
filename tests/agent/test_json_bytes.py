"""JSON of any value: nothing is lost for one odd part of it."""

import dataclasses
from typing import Any

import msgspec
import pytest

from agentcli.agent.json_bytes import DEEPEST, LEFT_OUT, json_bytes, to_json_lossy
from agentcli.agent.messages import TextContent, ToolResultMessage


class Odd:
    def __init__(self, text: str | None) -> None:
        self.text = text

    def __str__(self) -> str:
        if self.text is None:
            raise RuntimeError("no text")
        return self.text


@dataclasses.dataclass
class Holder:
    inner: Any

    def __str__(self) -> str:
        return "a holder"


def in_itself() -> dict[str, Any]:
    value: dict[str, Any] = {"a": 1, "list": [2]}
    value["list"].append(value)
    return value


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": Odd("odd"), "b": 1}, {"a": "odd", "b": 1}),
        ({"a": Odd(None), "b": 1}, {"a": "<Odd>", "b": 1}),
        ({"a": Odd("\ud800"), "b": 1}, {"a": "\ufffd", "b": 1}),
        ({"\ud800": {"\ud800"}, (1, "x"): "\ud83d\ude00"}, {"\ufffd": ["\ufffd"], "(1, 'x')": "😀"}),
        (in_itself(), {"a": 1, "list": [2, LEFT_OUT]}),
        ([Holder("\ud800"), Holder(1)], ["a holder", {"inner": 1}]),
        (float("inf"), None),
    ],
)
def test_what_json_cannot_say_is_said_as_text_and_all_else_as_it_is(value: Any, said: Any):
    assert msgspec.json.decode(json_bytes({"value": value, "beside": 1})) == {"value": said, "beside": 1}


def test_what_is_too_deep_is_said_down_to_a_depth():
    assert msgspec.json.decode(json_bytes(deep(5))) == deep(5)
    assert json_bytes(deep(100_000)).count(b"[") == DEEPEST


def test_a_struct_stays_one_and_what_can_be_said_is_the_value_itself():
    message = ToolResultMessage("c1", "odd", [TextContent("\ud800")], {"f": Odd("odd"), "in": in_itself()})
    said, encoded = to_json_lossy(message)
    assert (said.content, said.details["in"]["a"], type(said)) == ([TextContent("\ufffd")], 1, ToolResultMessage)
    assert msgspec.json.decode(encoded, type=ToolResultMessage).details["f"] == "odd"
    plain = ToolResultMessage("c1", "odd", [TextContent("x")], {"n": 1})
    assert to_json_lossy(plain) == (plain, msgspec.json.encode(plain))
    assert to_json_lossy(plain)[0] is plain
