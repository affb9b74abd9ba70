"""Changing `config.toml`: one key at a time, with the user's comments and layout kept.

An invalid file is not changed, so that nothing in it is lost. tomlkit is slow to import, so only a change imports this
module.
"""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError

from agentcli.agent.errors import ConfigError, UsageError
from agentcli.config.load import MOST_WARNINGS, parse_settings
from agentcli.config.paths import config_file
from agentcli.config.private_file import locked, write_private
from agentcli.config.toml_file import decode_toml, read_toml_bytes


def set_key(dotted: str, text: str, path: Path | None = None) -> Any:
    """Set a key.

    Args:
        dotted: `bash_timeout`, `retry.max_retries`, `providers.mine.base_url`, `models."mine/m1".max_tokens`.
        text: a TOML value; anything else is taken as a string.
        path: the file; None is the user's `config.toml`.

    Returns:
        The value.

    Raises:
        UsageError: there is no such key.
        ConfigError: the file is invalid, or would be with this value. It is not changed.
    """
    keys = split_key(dotted)
    value = _value(text)

    def change(document: TOMLDocument) -> None:
        table: Any = document
        for key in keys[:-1]:
            if key not in table:
                table[key] = tomlkit.table(is_super_table=len(keys) > 2 and key == keys[0])
            table = table[key]
            if not isinstance(table, dict):
                raise UsageError(
                    f"{dotted}: {key} is a value, not a table", hint="agentcli config schema lists the keys"
                )
        table[keys[-1]] = value

    _change(path or config_file(), change, dotted)
    return value


def add_permission_rule(verdict: str, rule: str) -> None:
    """Add a rule to a list of `[permissions]`, unless it is there.

    Args:
        verdict: the list: `allow`, `ask` or `deny`.
        rule: the rule.

    Raises:
        ConfigError: as `set_key`.
    """

    def change(document: TOMLDocument) -> None:
        table = document.setdefault("permissions", tomlkit.table())
        rules = cast("Any", table).setdefault(verdict, tomlkit.array())
        if rule not in rules:
            rules.append(rule)

    _change(config_file(), change, f"permissions.{verdict}")


def split_key(dotted: str) -> list[str]:
    """The parts of a dotted key, those in quotes whole. Raises UsageError."""
    try:
        table = tomllib.loads(f"{dotted} = 0") if "\n" not in dotted else {}
    except tomllib.TOMLDecodeError:
        table = {}
    keys: list[str] = []
    place: Any = table
    while isinstance(place, dict) and len(place) == 1:
        (key,) = place
        keys.append(key)
        place = place[key]
    if not keys or place != 0:
        raise UsageError(f"{dotted!r} is no key", hint='write it like retry.max_retries or models."mine/m1".max_tokens')
    return keys


def _value(text: str) -> Any:
    try:
        return tomlkit.value(text.strip())
    except (TOMLKitError, ValueError):
        return text


def _change(path: Path, change: Callable[[TOMLDocument], None], dotted: str) -> None:
    with locked(path):
        data = read_toml_bytes(path) or b""
        before = parse_settings(data, path)
        bom = data.startswith(b"\xef\xbb\xbf")
        document = tomlkit.parse(decode_toml(data))
        change(document)
        text = tomlkit.dumps(document)
        if b"\r\n" in data:
            text = re.sub(r"\r?\n", "\r\n", text)
        changed = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
        try:
            after = parse_settings(changed, path)
        except ConfigError as error:
            problem = error.message.partition(": ")[2]
            raise ConfigError(f"{problem}; nothing was changed", hint="give another value") from None
        known, now = before.settings.warnings, after.settings.warnings
        if len(now) > len(known) or now[MOST_WARNINGS:] != known[MOST_WARNINGS:]:
            raise UsageError(f"there is no setting {dotted}", hint="agentcli config schema lists them")
        write_private(path, changed)
