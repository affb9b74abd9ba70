"""JSON Schema: whether a value fits a schema, strictly, with every misfit and its place.

What is understood is the validation of draft 2020-12 without `unevaluated…`, dynamic and remote references. A schema
with any other keyword is refused when it is read: nothing is taken for checked that is not. `format` is no check, and
keywords that begin with `x-` are remarks.
"""

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import unquote

import msgspec

from agentcli.agent.errors import UsageError

_SILENT = frozenset({
    "$schema", "$id", "$comment", "$anchor", "$defs", "definitions", "title", "description", "default", "examples",
    "deprecated", "readOnly", "writeOnly", "format", "discriminator", "then", "else",
    "contentEncoding", "contentMediaType", "contentSchema",
})  # fmt: skip
_ONE = ("additionalProperties", "propertyNames", "items", "contains", "not", "if", "then", "else")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_TABLES = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
_SHAPES: dict[str, type | tuple[type, ...]] = {
    "$ref": str, "type": (str, list), "enum": list, "required": list, "dependentRequired": dict, "uniqueItems": bool,
    "pattern": str, "minimum": (int, float), "maximum": (int, float), "exclusiveMinimum": (int, float),
    "exclusiveMaximum": (int, float), "multipleOf": (int, float), "minLength": int, "maxLength": int, "minItems": int,
    "maxItems": int, "minContains": int, "maxContains": int, "minProperties": int, "maxProperties": int,
}  # fmt: skip
KEYWORDS = frozenset({*_SHAPES, "const", *_ONE, *_LISTS, *_TABLES})
_IN_PLACE = ("not", "if", "then", "else")
"""With `$ref`, `anyOf` and its like: what is asked about the value itself and not about its parts."""

_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_DOLLAR = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", re.S)
"""A dollar, or what may hold one that is none: an escape, a class of characters."""

_BOUNDS = {
    "minimum": (lambda value, bound: value >= bound, "at least"),
    "maximum": (lambda value, bound: value <= bound, "at most"),
    "exclusiveMinimum": (lambda value, bound: value > bound, "more than"),
    "exclusiveMaximum": (lambda value, bound: value < bound, "less than"),
}


class JsonSchema:
    """Args:
    schema: as JSON decodes.

    Raises:
        UsageError: it is no schema, or says something that is not understood. The message says what and where.
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._known: dict[int, tuple[str, dict[str, Any]]] = {}
        """What was read: place and schema, by the identity of the schema."""
        try:
            self._read(schema, "$")
            ended: set[int] = set()
            for place, part in self._known.values():
                self._refuse_circles(part, place, set(), ended)
        except RecursionError:
            raise UsageError("$: nested too deep") from None

    def validation_errors(self, value: Any) -> list[str]:
        """Everything that does not fit, each as `path: what is wrong`; paths start at `$`."""
        try:
            return list(self._check(self.schema, value, "$"))
        except RecursionError:
            return ["$: nested too deep to be checked"]

    def _read(self, schema: Any, place: str) -> None:
        """Refuse what could not be checked, now and not when the answer is there."""
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            raise UsageError(f"{place}: a schema is an object, true or false, not {_name(schema)}")
        if id(schema) in self._known:
            return
        self._known[id(schema)] = place, schema
        for keyword, says in schema.items():
            where = f"{place}.{keyword}"
            if keyword in _ONE:
                self._read(says, where)
            elif keyword in _LISTS and isinstance(says, list):
                for index, part in enumerate(says):
                    self._read(part, f"{where}[{index}]")
            elif keyword in _TABLES and isinstance(says, dict):
                for name, part in says.items():
                    self._read(part, f"{where}.{name}")
            elif keyword in KEYWORDS:
                self._read_value(keyword, says, where)
            elif keyword not in _SILENT and not keyword.startswith("x-"):
                raise UsageError(f"{where}: this keyword is not understood", hint=f"understood: {_listed()}")
        for pattern in schema.get("patternProperties", {}):
            _compiled(pattern, f"{place}.patternProperties")

    def _read_value(self, keyword: str, says: Any, where: str) -> None:
        shape = _SHAPES.get(keyword)
        if keyword in _LISTS + _TABLES or (
            shape and (not isinstance(says, shape) or _is_flag(says) != (shape is bool))
        ):
            raise UsageError(f"{where}: {_name(says)} does not belong here")
        match keyword:
            case "type":
                unknown = [kind for kind in _types(says) if kind not in _TYPES]
                if unknown or not says:
                    named = f" {unknown[0]!r}" if unknown else " given"
                    raise UsageError(f"{where}: there is no type{named}", hint=f"types: {', '.join(_TYPES)}")
            case "required":
                _check_names(says, where)
            case "dependentRequired":
                for name, names in says.items():
                    _check_names(names, f"{where}.{name}")
            case "pattern":
                _compiled(says, where)
            case "multipleOf" if says <= 0:
                raise UsageError(f"{where}: it must be more than 0")
            case "$ref":
                self._read(self._target(says, where), says)
            case _:
                pass

    def _refuse_circles(self, schema: Any, place: str, begun: set[int], ended: set[int]) -> None:
        """Refuse a schema that asks itself about the same value: there would be no end."""
        if not isinstance(schema, dict) or id(schema) in ended:
            return
        if id(schema) in begun:
            raise UsageError(
                f"{place}: it refers to itself without an end", hint="refer to it from a part of the value"
            )
        begun.add(id(schema))
        parts = [schema.get(keyword) for keyword in _IN_PLACE]
        parts += [part for keyword in ("allOf", "anyOf", "oneOf") for part in schema.get(keyword, [])]
        parts += schema.get("dependentSchemas", {}).values()
        if "$ref" in schema:
            parts.append(self._target(schema["$ref"], place))
        for part in parts:
            self._refuse_circles(part, place, begun, ended)
        ended.add(id(schema))

    def _target(self, reference: str, where: str) -> Any:
        """What a reference inside of the schema names."""
        target = self.schema
        if not reference.startswith("#") or (reference != "#" and not reference.startswith("#/")):
            raise UsageError(f"{where}: {reference} is not in this schema", hint="refer to #/$defs/NAME")
        for part in reference[2:].split("/") if reference != "#" else []:
            part = unquote(part).replace("~1", "/").replace("~0", "~")
            target = _step(target, part)
        if not isinstance(target, dict | bool):
            raise UsageError(f"{where}: there is no {reference}")
        return target

    def _check(self, schema: Any, value: Any, path: str) -> Iterator[str]:
        if isinstance(schema, bool):
            if not schema:
                yield f"{path}: nothing may stand here"
            return
        if "$ref" in schema:
            yield from self._check(self._target(schema["$ref"], path), value, path)
        if "type" in schema and not any(_is(kind, value) for kind in _types(schema["type"])):
            yield f"{path}: expected {' or '.join(_types(schema['type']))}, got {_name(value)}"
            return
        if "const" in schema and not _equal(value, schema["const"]):
            yield f"{path}: expected {_shown(schema['const'])}"
        if "enum" in schema and not any(_equal(value, choice) for choice in schema["enum"]):
            yield f"{path}: expected one of {', '.join(map(_shown, schema['enum']))}"
        yield from self._check_combined(schema, value, path)
        match value:
            case dict():
                yield from self._check_object(schema, value, path)
            case list():
                yield from self._check_array(schema, value, path)
            case str():
                yield from _check_size(schema, len(value), path, "Length", "characters")
                if "pattern" in schema and not _regex(schema["pattern"]).search(value):
                    yield f"{path}: expected text that matches {schema['pattern']}"
            case int() | float() if not _is_flag(value):
                yield from _check_number(schema, value, path)
            case _:
                pass

    def _check_combined(self, schema: Any, value: Any, path: str) -> Iterator[str]:
        for part in schema.get("allOf", []):
            yield from self._check(part, value, path)
        for keyword in ("anyOf", "oneOf"):
            if keyword not in schema:
                continue
            attempts = [list(self._check(part, value, path)) for part in schema[keyword]]
            fitting = sum(not attempt for attempt in attempts)
            if not fitting:
                yield from min(attempts, key=len, default=[f"{path}: nothing may stand here"])
            elif fitting > 1 and keyword == "oneOf":
                yield f"{path}: fits {fitting} of the alternatives, and may fit one only"
        if "not" in schema and self._fits(schema["not"], value, path):
            yield f"{path}: it must not fit what `not` says"
        if "if" in schema:
            branch = "then" if self._fits(schema["if"], value, path) else "else"
            yield from self._check(schema.get(branch, True), value, path)

    def _check_object(self, schema: Any, value: dict[str, Any], path: str) -> Iterator[str]:
        properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{path}: missing required field `{name}`"
        for name, item in value.items():
            parts = [properties[name]] if name in properties else []
            parts += [part for pattern, part in patterns.items() if _regex(pattern).search(name)]
            if not parts and schema.get("additionalProperties") is False:
                yield f"{path}: unknown field `{name}`"
                continue
            for part in parts or [schema.get("additionalProperties", True)]:
                yield from self._check(part, item, f"{path}.{name}")
            yield from self._check(schema.get("propertyNames", True), name, f"{path}.{name} (its name)")
        for name, others in schema.get("dependentRequired", {}).items():
            yield from (f"{path}: `{name}` needs `{other}`" for other in others if name in value and other not in value)
        for name, part in schema.get("dependentSchemas", {}).items():
            if name in value:
                yield from self._check(part, value, path)
        yield from _check_size(schema, len(value), path, "Properties", "fields")

    def _check_array(self, schema: Any, value: list[Any], path: str) -> Iterator[str]:
        first = schema.get("prefixItems", [])
        for index, item in enumerate(value):
            part = first[index] if index < len(first) else schema.get("items", True)
            yield from self._check(part, item, f"{path}[{index}]")
        if "contains" in schema:
            found = sum(self._fits(schema["contains"], item, path) for item in value)
            least, most = schema.get("minContains", 1), schema.get("maxContains", math.inf)
            if not least <= found <= most:
                yield f"{path}: {found} items fit what `contains` says; {least} to {most} have to"
        if schema.get("uniqueItems") and len({_identity(item) for item in value}) < len(value):
            yield f"{path}: an item occurs twice"
        yield from _check_size(schema, len(value), path, "Items", "items")

    def _fits(self, schema: Any, value: Any, path: str) -> bool:
        return next(self._check(schema, value, path), None) is None


def _check_size(schema: Any, size: int, path: str, keyword: str, unit: str) -> Iterator[str]:
    if size < schema.get(f"min{keyword}", 0):
        yield f"{path}: expected at least {schema[f'min{keyword}']} {unit}, got {size}"
    if size > schema.get(f"max{keyword}", math.inf):
        yield f"{path}: expected at most {schema[f'max{keyword}']} {unit}, got {size}"


def _check_number(schema: Any, value: float, path: str) -> Iterator[str]:
    for keyword, (holds, words) in _BOUNDS.items():
        if keyword in schema and not holds(value, schema[keyword]):
            yield f"{path}: expected a number {words} {schema[keyword]}"
    if (step := schema.get("multipleOf")) and not _is_multiple(value, step):
        yield f"{path}: expected a multiple of {step}"


def _is_multiple(value: float, step: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    try:
        quotient = value / step
    except OverflowError:
        return False
    return math.isfinite(quotient) and abs(quotient - round(quotient)) < 1e-9


def _step(target: Any, part: str) -> Any:
    if isinstance(target, dict):
        return target.get(part)
    return target[int(part)] if isinstance(target, list) and part.isdecimal() and int(part) < len(target) else None


def _types(says: Any) -> list[Any]:
    return says if isinstance(says, list) else [says]


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is(kind: str, value: Any) -> bool:
    match kind:
        case "integer":
            return not _is_flag(value) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
        case "number":
            return not _is_flag(value) and isinstance(value, int | float)
        case _:
            return _name(value) == kind


def _name(value: Any) -> str:
    """The JSON name of a value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _equal(one: Any, other: Any) -> bool:
    return _identity(one) == _identity(other)


def _identity(value: Any) -> Any:
    """Equal and hashable for values that are the same to JSON: 1 is 1.0, and true is not 1."""
    match value:
        case bool():
            return "boolean", value
        case list():
            return tuple(map(_identity, value))
        case dict():
            return frozenset((name, _identity(item)) for name, item in value.items())
        case _:
            return value


def _check_names(names: Any, where: str) -> None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{where}: a list of names belongs here")


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    """As JSON Schema means it: `$` is the end and not before a last line's end, `\\d` and `\\w` are ASCII."""
    python = _DOLLAR.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)
    return re.compile(python, re.ASCII)


def _compiled(pattern: str, where: str) -> None:
    try:
        _regex(pattern)
    except re.error as error:
        raise UsageError(f"{where}: {pattern!r} is no regular expression: {error}") from None


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _listed() -> str:
    return ", ".join(sorted(KEYWORDS))
