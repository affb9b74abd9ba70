"""Validation of tool arguments: JSON Schema, as far as tools use it, with every error and its path.

A value that says the same in another type is converted: `"5"` where an integer is wanted, `5` where a string is,
`"[…]"` where a list is. Keywords this module does not know are not checked.
"""

import json
import math
import operator
import re
from typing import Any, cast

Schema = dict[str, Any]


def validate_arguments(schema: Schema, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The arguments, converted where that is safe, and every error as `path: what is wrong`; paths start at `$`."""
    validator = _Validator(schema.get("$defs", {}))
    value = validator.check(schema, arguments, "$")
    return value, validator.errors


class _Validator:
    def __init__(self, definitions: dict[str, Schema]) -> None:
        self.definitions = definitions
        self.errors: list[str] = []

    def fail(self, path: str, problem: str) -> None:
        self.errors.append(f"{path}: {problem}")

    def check(self, schema: Schema, value: Any, path: str) -> Any:
        """`value` as the schema wants it; what cannot be is noted in `errors` and comes back as it was."""
        if "$ref" in schema:
            schema = {**self.definitions.get(str(schema["$ref"]).rpartition("/")[2], {}), **schema, "$ref": None}
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                value = self._one_of(schema[keyword], value, path)
        for part in schema.get("allOf", []):
            value = self.check(part, value, path)
        if "type" in schema:
            types = cast("list[str]", schema["type"] if isinstance(schema["type"], list) else [schema["type"]])
            converted = _as_type(types, value)
            if converted is _NOT:
                self.fail(path, f"expected {' or '.join(types)}, got {_name(value)}")
                return value
            value = converted
        self._check_choice(schema, value, path)
        return self._check_content(schema, value, path)

    def _one_of(self, options: list[Schema], value: Any, path: str) -> Any:
        attempts: list[list[str]] = []
        for option in options:
            attempt = _Validator(self.definitions)
            converted = attempt.check(option, value, path)
            if not attempt.errors:
                return converted
            attempts.append(attempt.errors)
        self.errors += min(attempts, key=len) if attempts else []
        return value

    def _check_choice(self, schema: Schema, value: Any, path: str) -> None:
        if "const" in schema and value != schema["const"]:
            self.fail(path, f"expected {json.dumps(schema['const'])}")
        if "enum" in schema and value not in schema["enum"]:
            self.fail(path, f"expected one of {', '.join(json.dumps(choice) for choice in schema['enum'])}")

    def _check_content(self, schema: Schema, value: Any, path: str) -> Any:
        match value:
            case dict():
                return self._check_object(schema, cast("dict[str, Any]", value), path)
            case list():
                return self._check_array(schema, cast("list[Any]", value), path)
            case str():
                self._check_length(schema, len(value), path, "Length", "characters")
                if "pattern" in schema and not re.search(schema["pattern"], value):
                    self.fail(path, f"expected text that matches {schema['pattern']}")
            case int() | float() if not isinstance(value, bool):
                self._check_range(schema, value, path)
            case _:
                pass
        return value

    def _check_object(self, schema: Schema, value: dict[str, Any], path: str) -> dict[str, Any]:
        properties: dict[str, Schema] = schema.get("properties", {})
        additional = schema.get("additionalProperties", True)
        for name in schema.get("required", []):
            if name not in value:
                self.fail(path, f"missing required field `{name}`")
        checked: dict[str, Any] = {}
        for name, item in value.items():
            if name in properties:
                checked[name] = self.check(properties[name], item, f"{path}.{name}")
            elif additional is False:
                self.fail(path, f"unknown field `{name}`")
            else:
                allowed = cast("Schema", additional) if isinstance(additional, dict) else {}
                checked[name] = self.check(allowed, item, f"{path}.{name}")
        return checked

    def _check_array(self, schema: Schema, value: list[Any], path: str) -> list[Any]:
        self._check_length(schema, len(value), path, "Items", "items")
        items = schema.get("items")
        if not isinstance(items, dict):
            return value
        return [self.check(cast("Schema", items), item, f"{path}[{index}]") for index, item in enumerate(value)]

    def _check_length(self, schema: Schema, length: int, path: str, keyword: str, unit: str) -> None:
        if length < schema.get(f"min{keyword}", 0):
            self.fail(path, f"expected at least {schema[f'min{keyword}']} {unit}")
        if length > schema.get(f"max{keyword}", math.inf):
            self.fail(path, f"expected at most {schema[f'max{keyword}']} {unit}")

    def _check_range(self, schema: Schema, value: float, path: str) -> None:
        if not math.isfinite(value):
            self.fail(path, "expected a finite number")
            return
        bounds = {
            "minimum": (operator.ge, ">="),
            "maximum": (operator.le, "<="),
            "exclusiveMinimum": (operator.gt, ">"),
            "exclusiveMaximum": (operator.lt, "<"),
        }
        for keyword, (holds, sign) in bounds.items():
            if keyword in schema and not holds(value, schema[keyword]):
                self.fail(path, f"expected a number {sign} {schema[keyword]}")


_NOT = object()


def _as_type(types: list[str], value: Any) -> Any:
    """`value` if it is of one of the types, else converted to the first that it can be, else `_NOT`."""
    if any(_is(kind, value) for kind in types):
        return int(value) if isinstance(value, float) and "number" not in types else value
    for kind in types:
        converted = _convert(kind, value)
        if converted is not _NOT:
            return converted
    return _NOT


def _is(kind: str, value: Any) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "number":
            return not isinstance(value, bool) and isinstance(value, int | float)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "null":
            return value is None
        case _:
            return True


def _convert(kind: str, value: Any) -> Any:
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return _NOT
    if kind == "boolean":
        return {"true": True, "false": False}.get(value.strip().lower(), _NOT)
    if kind in ("integer", "number", "array", "object"):
        try:
            parsed = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            return _NOT
        if _is(kind, parsed):
            return int(parsed) if kind == "integer" else parsed
    return _NOT


def _name(value: Any) -> str:
    """The JSON name of a value's type."""
    for kind in ("null", "boolean", "integer", "number", "string", "array", "object"):
        if _is(kind, value):
            return kind
    return type(value).__name__
