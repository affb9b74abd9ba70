"""Tables: plain data as TOML and JSON hold it, merged and looked up by path."""

from collections.abc import Container, Mapping, Sequence
from typing import Any, cast

Path = tuple[str, ...]
"""The keys from the outer table to the value."""


def merge_tables(
    base: Mapping[str, Any], changes: Mapping[str, Any], adding: Container[Path] = (), place: Path = ()
) -> dict[str, Any]:
    """`base` with `changes`: tables are merged key by key, every other value is replaced.

    Args:
        adding: paths of lists to which a change adds.
        place: the path of the tables themselves.
    """
    merged = dict(base)
    for key, value in changes.items():
        before, path = merged.get(key), (*place, key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            old, new = cast("Mapping[str, Any]", before), cast("Mapping[str, Any]", value)
            merged[key] = merge_tables(old, new, adding, path)
        elif path in adding and isinstance(before, list) and isinstance(value, list):
            merged[key] = [*cast("list[Any]", before), *cast("list[Any]", value)]
        else:
            merged[key] = value
    return merged


def value_at(table: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The value at a path; None if there is none."""
    value: Any = table
    for key in path:
        value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
    return value
