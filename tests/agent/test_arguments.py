"""Arguments as models write them, and their validation against a schema."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from agentcli.agent.arguments import parse_arguments
from agentcli.agent.tools import parameters_of
from agentcli.agent.validation import validate_arguments


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("  \n", {}),
        ("null", {}),
        ("{}", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"command": "printf \'a\nb\tc\'"}', {"command": "printf 'a\nb\tc'"}),
        ('"{\\"command\\": \\"echo hi\\"}"', {"command": "echo hi"}),
        ('{"a": "\\ud83d"}', {"a": "\ufffd"}),
        ('{"a": 1', None),
        ('{"a": 1}\n```', None),
        ('["a"]', None),
        ("5", None),
        ('{"a": 1e400}', None),
        ('{"a": NaN}', None),
        ('{"a": ' + "[" * 100_000, None),
    ],
    ids=range(15),
)
def test_text_becomes_one_object_or_nothing(text: str, expected: Any):
    assert parse_arguments(text) == expected


@given(st.text())
def test_no_text_raises(text: str):
    assert isinstance(parse_arguments(text), dict | None)


def check(schema: dict[str, Any], value: Any) -> tuple[Any, list[str]]:
    wrapped = {"type": "object", "properties": {"v": schema}}
    result, errors = validate_arguments(wrapped, {"v": value})
    return result.get("v"), errors


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, 3.0, 3),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "string"}, 5, "5"),
        ({"type": "boolean"}, "TRUE", True),
        ({"type": "array", "items": {"type": "integer"}}, '["1", 2]', [1, 2]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": ["string", "null"]}, None, None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "7", 7),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x", "x"),
        ({"enum": ["a", "b"]}, "a", "a"),
        ({}, {"anything": [1]}, {"anything": [1]}),
    ],
)
def test_what_says_the_same_is_converted(schema: dict[str, Any], value: Any, expected: Any):
    result, errors = check(schema, value)
    assert (result, errors) == (expected, [])
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        ({"type": "integer"}, "soon", "$.v: expected integer, got string"),
        ({"type": "integer"}, 2.5, "$.v: expected integer, got number"),
        ({"type": "integer"}, True, "$.v: expected integer, got boolean"),
        ({"type": "string"}, ["a"], "$.v: expected string, got array"),
        ({"type": "string"}, None, "$.v: expected string, got null"),
        ({"type": "string", "minLength": 1}, "", "$.v: expected at least 1 characters"),
        ({"type": "string", "pattern": "^a"}, "b", "$.v: expected text that matches ^a"),
        ({"type": "integer", "minimum": 1}, 0, "$.v: expected a number >= 1"),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "$.v: expected a number > 0"),
        ({"type": "number"}, float("inf"), "$.v: expected a finite number"),
        ({"enum": ["a", "b"]}, "c", '$.v: expected one of "a", "b"'),
        ({"const": 1}, 2, "$.v: expected 1"),
        ({"type": "array", "minItems": 1}, [], "$.v: expected at least 1 items"),
        ({"type": "array", "items": {"type": "integer"}}, [1, "x"], "$.v[1]: expected integer, got string"),
        ({"type": "object", "additionalProperties": False}, {"b": 1}, "$.v: unknown field `b`"),
        ({"type": "object", "required": ["a"]}, {}, "$.v: missing required field `a`"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", "$.v: expected integer, got string"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(schema: dict[str, Any], value: Any, problem: str):
    assert check(schema, value)[1] == [problem]


def test_every_error_is_told_at_once():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "array"}}, "required": ["c"]}
    _, errors = validate_arguments(schema, {"a": "x", "b": 1})
    assert errors == [
        "$: missing required field `c`",
        "$.a: expected integer, got string",
        "$.b: expected array, got integer",
    ]


class Edit(Struct):
    old_text: str
    new_text: str


class Arguments(Struct):
    path: str
    edits: list[Edit]
    limit: int | None = None
    deep: bool = False


def test_a_struct_gives_a_schema_without_what_no_model_needs():
    schema = parameters_of(Arguments)
    assert schema["required"] == ["path", "edits"]
    assert schema["properties"]["limit"] == {"type": "integer"}
    assert "title" not in str(schema)
    _, errors = validate_arguments(schema, {"path": "x", "edits": [{"old_text": "a"}], "limit": "2"})
    assert errors == ["$.edits[0]: missing required field `new_text`"]


def test_limits_of_a_struct_reach_the_schema():
    from typing import Annotated

    class Limited(Struct):
        limit: Annotated[int, Meta(ge=1, description="how many")] = 1

    schema = parameters_of(Limited)
    assert schema["properties"]["limit"] == {"type": "integer", "minimum": 1, "description": "how many"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["path", "edits", "limit", "deep", "x"]), VALUES))
def test_no_value_raises_and_a_valid_one_stays_valid(arguments: dict[str, Any]):
    schema = parameters_of(Arguments)
    value, errors = validate_arguments(schema, arguments)
    if not errors:
        assert validate_arguments(schema, value) == (value, [])
