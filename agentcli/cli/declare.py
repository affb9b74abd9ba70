"""Declarations: what a command takes, as data in its annotations. Typer reads them, and so does the quick way.

Typer does everything: help, completion, errors. Importing it takes 12 ms, which a plain `agentcli run` does not need:
`quick_arguments` reads the usual forms of options itself and leaves everything else to Typer.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

from msgspec import Struct


class Option(Struct, frozen=True):
    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    min: float | None = None
    """The smallest value of a number."""


class Argument(Struct, frozen=True):
    metavar: str
    help: str


def option(*names: str, help: str, metavar: str | None = None, min: float | None = None) -> Option:
    return Option(names, help, metavar, min)


def quick_arguments(command: Callable[..., Any], words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments for a command, by name; None if Typer has to look at the words (help, errors, rarer forms)."""
    arguments = {name: parameter.default for name, parameter in inspect.signature(command).parameters.items()}
    options: dict[str, tuple[str, type, Option]] = {}
    positional = ""
    for name, hint in get_type_hints(command, include_extras=True).items():
        if name == "return":
            continue
        kind, declared = _kind(hint.__origin__), hint.__metadata__[0]
        if isinstance(declared, Argument):
            positional = name
        else:
            options |= dict.fromkeys(declared.names, (name, kind, declared))
    rest: list[str] = []
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        if not word.startswith("-") or word == "-":
            rest.append(word)
            continue
        written, equals, text = word.partition("=")
        if written not in options:
            return None
        name, kind, declared = options[written]
        if kind is bool:
            value = None if equals else True
        elif equals or (queue and not queue[-1].startswith("-")):
            value = _value(text if equals else queue.pop(), kind, declared)
        else:
            return None
        if value is None:
            return None
        arguments[name] = value
    if rest and not positional:
        return None
    if rest:
        arguments[positional] = rest
    return arguments


def _kind(hint: Any) -> type:
    """The type of one value: `str | None` and `list[str]` are `str`."""
    inner = [part for part in get_args(hint) if part is not type(None)]
    return _kind(inner[0]) if inner else hint


def _value(text: str, kind: type, declared: Option) -> Any:
    """The text as the option wants it, or None if Typer has to say what is wrong with it."""
    try:
        value: Any = kind(text) if issubclass(kind, int | float | Path | Enum) else text
    except ValueError:
        return None
    return None if declared.min is not None and not declared.min <= value < math.inf else value
