"""Argument names: what models are used to writing, turned into the names our tools have.

A name is taken only where the right one is missing, so a call that is right is never changed.
"""

from collections.abc import Mapping
from typing import Any

PATH_NAMES = {"file_path": "path", "filePath": "path", "filepath": "path", "file": "path", "filename": "path"}


def rename(arguments: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The arguments with each name of `names` changed to what it stands for, unless that is there."""
    renamed = dict(arguments)
    for theirs, ours in names.items():
        if theirs in renamed and ours not in renamed:
            renamed[ours] = renamed.pop(theirs)
    return renamed


def parsed(value: Any) -> Any:
    """A list or object that came as a JSON string, as what it is; anything else as it came."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    import json  # 1 ms, and seldom needed

    try:
        return json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return value
