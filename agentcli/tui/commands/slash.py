"""Parses submitted texts that begin with `/` or `!` into calls."""

import re
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from agentcli.tui.commands.actions import Command
from agentcli.tui.commands.table import BY_NAME
from agentcli.tui.did_you_mean import did_you_mean

_CALL = re.compile(r"/(?P<name>[^\s/]+)(?:\s+(?P<argument>.*))?\s*\Z", re.S)
_SHELL = re.compile(r"(?P<marks>!!?)\s*(?P<command>.*)\Z", re.S)


class CommandCall(Struct, frozen=True):
    """`/name argument`, a command of the app."""

    command: Command
    argument: str


class ShellCall(Struct, frozen=True):
    """`!command`, or `!!command`, which is not added to the model's context."""

    command: str
    exclude_from_context: bool


class UnknownCall(Struct, frozen=True):
    """A text that looks like a call of something that does not exist."""

    problem: str
    """For the user, as one line."""


def call_of(text: str, others: Collection[str]) -> CommandCall | ShellCall | UnknownCall | None:
    """Parse a submitted text; None if it is a prompt for the model.

    Args:
        text: what was submitted.
        others: names of the templates, skills and commands of extensions, which the runtime runs.
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
    if isinstance(action := BY_NAME.get(name), Command) and action.slash:
        return CommandCall(action, (found["argument"] or "").strip())
    if _is_path(name):
        return None
    names = [*others, *(each.name for each in BY_NAME.values() if isinstance(each, Command) and each.slash)]
    hint = did_you_mean(name, names, "/") or "/help lists what there is"
    return UnknownCall(f"there is no /{name} ({hint}; a space before it sends it as text)")


def _is_path(name: str) -> bool:
    try:
        return Path("/", name).exists()
    except (OSError, ValueError):
        # Too long for a path, or with a NUL.
        return False
