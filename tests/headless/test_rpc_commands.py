"""RPC commands: what is no command is refused with what is wrong and where, and its id."""

import contextlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.messages import ImageContent
from agentcli.headless.rpc.commands import AnyCommand, BadCommandError, GetState, GoTo, Prompt, Steer, read_command
from agentcli.headless.rpc.handlers import HANDLERS


def test_commands_are_read():
    prompt = Prompt(id="a", message="hi", images=[ImageContent("AA==", "image/png")], streaming_behavior="steer")
    assert read_command(msgspec.json.encode(prompt)) == prompt
    assert read_command(b'{"type": "get_state"}\r') == GetState()
    assert read_command(b'{"type": "go_to", "entry_id": null, "id": 7}') == GoTo(id=7, entry_id=None)


@pytest.mark.parametrize("id", [b"1", b'"x"', b"-3", b"1.5", b'""', b"12345678901234567890123", '"ü\u2028"'.encode()])
def test_any_string_or_number_is_an_id(id: bytes):
    command = read_command(b'{"type": "abort", "id": ' + id + b"}")
    assert msgspec.json.encode(command.id) == id


@pytest.mark.parametrize(
    ("line", "command", "id", "says"),
    [
        (b"nonsense", "parse", None, "no JSON"),
        (b'{"type": "abort"} {"type": "abort"}', "parse", None, "no JSON"),
        (b"[1]", "parse", None, "a command is a JSON object"),
        (b"null", "parse", None, "a command is a JSON object"),
        (b'{"id": 5}', "parse", 5, "missing required field `type`"),
        (b'{"id": 5, "type": 7}', "parse", 5, "$.type"),
        (b'{"id": "x", "type": "promt", "message": "hi"}', "promt", "x", "there is no command `promt`; did you mean `prompt`?"),
        (b'{"id": "x", "type": "zzzzzz"}', "zzzzzz", "x", "there are abort, abort_bash"),
        (b'{"id": 1, "type": "prompt"}', "prompt", 1, "missing required field `message`"),
        (b'{"id": 1, "type": "prompt", "message": 3}', "prompt", 1, "Expected `str`, got `int` - at `$.message`"),
        (b'{"id": 1, "type": "steer", "message": "a", "msg": 1}', "steer", 1, "unknown field `msg`"),
        (b'{"id": 1, "type": "move_queued", "queue_id": "q1", "position": "0"}', "move_queued", 1, "$.position"),
        (b'{"id": 1, "type": "set_thinking_level", "level": "huge"}', "set_thinking_level", 1, "$.level"),
        (b'{"id": [1], "type": "abort"}', "abort", None, "`id` is a string or a number"),
        (b'{"id": true, "type": "abort"}', "abort", None, "`id` is a string or a number"),
        (b'{"id": 1e999, "type": "abort"}', "abort", None, "`id` is a string or a number"),
        (b'{"id": NaN, "type": "abort"}', "parse", None, "NaN is no number in JSON"),
        ('{"type": "abort"}'.encode("utf-16"), "parse", None, "UTF-8"),
        ('{"type": "abort"}'.encode("utf-16-le"), "parse", None, "no JSON"),
        (b'{"id": 1, "type": "abort", "x": "\xff"}', "parse", None, "UTF-8"),
        (b"[" * 100_000, "parse", None, "cannot be read"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_is_no_command_is_said_with_its_place(line: bytes, command: str, id: object, says: str):
    with pytest.raises(BadCommandError) as caught:
        read_command(line)
    assert (caught.value.command, says in caught.value.problem) == (command, True), caught.value.problem
    assert caught.value.id == (msgspec.UNSET if id is None else id)


def test_half_characters_become_the_replacement_character():
    assert read_command(b'{"type": "steer", "message": "a\\ud800b"}') == Steer(message="a\ufffdb")


@given(st.binary(max_size=60))
def test_no_line_does_anything_else(line: bytes):
    with contextlib.suppress(BadCommandError):
        read_command(line)


def test_every_command_has_a_handler():
    assert set(HANDLERS) == set(AnyCommand.__args__)
