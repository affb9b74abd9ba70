"""JSON Schema: what fits, what does not and where; and that nothing is taken for checked that is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.errors import UsageError
from agentcli.headless.json_schema import KEYWORDS, JsonSchema

TREE = {"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["n"]}}, "$ref": "#/$defs/node"}  # fmt: skip
CASES: list[tuple[Any, list[Any], list[Any]]] = [
    (True, [1, None, {}], []),
    (False, [], [1, None]),
    ({}, [1, None, "x"], []),
    ({"type": "integer"}, [1, -5, 1.0, 10**30], ["1", 1.5, True, None]),
    ({"type": "number"}, [1, 1.5], [True, "1"]),
    ({"type": "string"}, ["", "5"], [5, None]),
    ({"type": "boolean"}, [True], [1, 0, "true"]),
    ({"type": ["null", "array"]}, [None, []], [{}, 0]),
    ({"enum": [1, "a", None]}, [1, 1.0, "a", None], [True, "1", 0]),
    ({"const": {"a": [1]}}, [{"a": [1]}, {"a": [1.0]}], [{"a": [True]}, {"a": [1], "b": 1}]),
    ({"properties": {"a": {"type": "string"}}}, [{}, {"a": "x"}, {"b": 1}, 7], [{"a": 1}]),
    ({"properties": {"a": {}}, "additionalProperties": False}, [{"a": 1}], [{"b": 1}]),
    ({"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": {"type": "integer"}}, [{"x-a": "s", "b": 1}], [{"x-a": 1}, {"b": "s"}]),
    ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}], [{"abc": 1}]),
    ({"minProperties": 1, "maxProperties": 2}, [{"a": 1}], [{}, {"a": 1, "b": 1, "c": 1}]),
    ({"dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 1}, {"c": 1}], [{"a": 1}]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"a": 1, "b": 1}, {}], [{"a": 1}]),
    ({"required": ["a"]}, [{"a": None}, []], [{}]),
    ({"items": {"type": "integer"}}, [[], [1, 2], {}], [[1, "2"]]),
    ({"prefixItems": [{"type": "string"}], "items": False}, [["a"], []], [["a", 1], [1]]),
    ({"minItems": 1, "maxItems": 2, "uniqueItems": True}, [[1], [1, True]], [[], [1, 2, 3], [1, 1.0], [{"a": 1}, {"a": 1}]]),
    ({"contains": {"const": 1}, "maxContains": 1}, [[1, 2]], [[], [2], [1, 1]]),
    ({"minLength": 2, "maxLength": 3}, ["ab", "äöü", 7], ["a", "abcd"]),
    ({"pattern": "^a+$"}, ["aa"], ["ab", "aa\n"]),
    ({"pattern": r"^[$\]]\$$"}, ["$$", "]$"], ["$", "$$\n"]),
    ({"pattern": r"^\d$"}, ["5"], ["٥"]),
    ({"patternProperties": {"^a$": False}}, [{"a\n": 1}], [{"a": 1}]),
    ({"minimum": 1, "exclusiveMaximum": 3}, [1, 2.9], [0, 3]),
    ({"exclusiveMinimum": 1, "maximum": 3}, [2, 3], [1, 4]),
    ({"multipleOf": 0.1}, [0.3, 1], [0.25]),
    ({"multipleOf": 3}, [9, 10**40 * 3], [10]),
    ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["x", 5], [4]),
    ({"oneOf": [{"minimum": 5}, {"multipleOf": 2}]}, [2, 5], [6, 3]),
    ({"allOf": [{"minimum": 5}, {"multipleOf": 2}]}, [6], [5, 2]),
    ({"not": {"type": "string"}}, [1], ["x"]),
    ({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "null"}}, ["ab", None], ["a", 1]),
    (TREE, [{"n": 1, "next": {"n": 2}}], [{"n": 1, "next": {}}, 7]),
    ({"definitions": {"a/b": {"type": "null"}}, "$ref": "#/definitions/a~1b"}, [None], [1]),
    ({"$ref": "#/properties/a", "properties": {"a": {"type": "object"}}}, [{"a": {}}], [{"a": 1}, 1]),
    ({"$defs": {"a b": {"type": "null"}}, "$ref": "#/$defs/a%20b"}, [None], [1]),
    ({"uniqueItems": True}, [[0, False, "0", None, [], {}], [[1], [True]]], [[[1], [1.0]], [{"a": [1]}, {"a": [1]}]]),
    ({"x-order": 1, "title": "t", "description": "d", "format": "email", "default": 1, "$schema": "x", "examples": [1]}, [1], []),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "fitting", "unfitting"), CASES, ids=lambda value: str(value)[:60])
def test_what_fits_and_what_does_not(schema: Any, fitting: list[Any], unfitting: list[Any]):
    subject = JsonSchema(schema)
    assert [value for value in fitting if subject.validation_errors(value)] == []
    assert [value for value in unfitting if not subject.validation_errors(value)] == []


def test_every_keyword_is_tried_here():
    tried = {keyword for schema, _, _ in CASES if isinstance(schema, dict) for keyword in schema}
    assert KEYWORDS - tried - {"minContains", "properties"} == set()


def test_every_misfit_has_its_place():
    schema = {"type": "object", "properties": {"list": {"items": {"required": ["id"], "properties": {"id": {"type": "integer"}}}}}}  # fmt: skip
    assert JsonSchema(schema).validation_errors({"list": [{"id": 1}, {"id": "2"}, {}]}) == [
        "$.list[1].id: expected integer, got string",
        "$.list[2]: missing required field `id`",
    ]


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (3, "$: a schema is an object"),
        ({"type": "int"}, "$.type: there is no type 'int'"),
        ({"properties": {"a": {"unevaluatedProperties": False}}}, "$.properties.a.unevaluatedProperties: this keyword"),
        ({"properties": []}, "$.properties: array does not belong here"),
        ({"properties": {"a": 1}}, "$.properties.a: a schema is"),
        ({"items": [{}]}, "$.items: a schema is"),
        ({"minLength": "2"}, "$.minLength: string does not belong here"),
        ({"minLength": True}, "$.minLength: boolean does not belong here"),
        ({"uniqueItems": 1}, "$.uniqueItems: number does not belong here"),
        ({"pattern": "("}, "$.pattern: '(' is no regular expression"),
        ({"patternProperties": {"(": {}}}, "$.patternProperties: '(' is no regular expression"),
        ({"multipleOf": 0}, "$.multipleOf: it must be more than 0"),
        ({"$ref": "other.json"}, "$.$ref: other.json is not in this schema"),
        ({"$ref": "#/$defs/a"}, "$.$ref: there is no #/$defs/a"),
        ({"$ref": "#"}, "$: it refers to itself without an end"),
        ({"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}, {}]}}}, "$.properties.a: it refers to itself"),
        ({"$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"if": {"$ref": "#/$defs/a"}}}}, "$.$defs.a: it refers"),
        ({"$ref": "#/examples/0", "examples": [{"required": 5}]}, "#/examples/0.required: number does not belong here"),
        ({"type": []}, "$.type: there is no type given"),
        ({"required": [["a"]]}, "$.required: a list of names belongs here"),
        ({"dependentRequired": {"a": 1}}, "$.dependentRequired.a: a list of names belongs here"),
        ({"dependentRequired": {"a": [1]}}, "$.dependentRequired.a: a list of names belongs here"),
    ],
)  # fmt: skip
def test_a_schema_that_could_not_be_checked_is_refused(schema: Any, says: str):
    with pytest.raises(UsageError) as caught:
        JsonSchema(schema)
    assert says in str(caught.value)


def test_what_is_nested_too_deep_fits_nothing():
    value: Any = []
    for _ in range(10_000):
        value = [value]
    assert JsonSchema({"items": {"$ref": "#"}}).validation_errors(value) == ["$: nested too deep to be checked"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(sorted(KEYWORDS)), JSON, max_size=3), JSON)
def test_no_schema_and_no_value_ends_in_anything_but_an_answer(schema: Any, value: Any):
    try:
        subject = JsonSchema(schema)
    except UsageError:
        return
    assert all(problem.startswith("$") for problem in subject.validation_errors(value))
