"""Slash: what a text that begins with `/` or `!` calls, and what to say of one that calls nothing."""

import difflib
import re
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from agentcli.tui.commands.actions import BY_NAME, Action

_CALL = re.compile(r"/(?P<name>[^\s/]+)(?:\s+(?P<argument>.*))?\s*\Z", re.S)
_SHELL = re.compile(r"(?P<marks>!!?)\s*(?P<command>.*)\Z", re.S)


class CommandCall(Struct, frozen=True):
    """`/name argument` of the app's own."""

    action: Action
    argument: str


class ShellCall(Struct, frozen=True):
    """`!command`, or `!!command`, of which the model is not told."""

    command: str
    exclude_from_context: bool


class UnknownCall(Struct, frozen=True):
    problem: str
    """What to say, as one line."""


def call_of(text: str, others: Collection[str]) -> CommandCall | ShellCall | UnknownCall | None:
    """What a text calls; None if it is for the model.

    Args:
        others: names of templates, skills and commands of extensions, which the runtime knows.
    """
    if found := _SHELL.match(text):
        command = found["command"].strip()
        if not command:
            return UnknownCall(f"{found['marks']} runs a command: write one after it")
        return ShellCall(command, found["marks"] == "!!")
    if (found := _CALL.match(text)) is None:
        return None
    name = found["name"]
    if name in others:
        return None
    if (action := BY_NAME.get(name)) is not None and action.command:
        return CommandCall(action, (found["argument"] or "").strip())
    if _is_path(name):
        return None
    names = [*others, *(action.name for action in BY_NAME.values() if action.command)]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean /{near[0]}?" if near else "/help lists what there is"
    return UnknownCall(f"there is no /{name} ({hint}; a space before it sends it as text)")


def _is_path(name: str) -> bool:
    try:
        return Path("/", name).exists()
    except (OSError, ValueError):
        # Too long for a path, or with a character that no path has.
        return False
