"""Loading a file of settings: an invalid value is an error that names the line, an unknown key a warning."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.agent.tables import value_at
from agentcli.config.declaration import declared_keys, unknown_keys
from agentcli.config.settings import Settings
from agentcli.config.toml_file import Refuse, convert, line_of, parse_toml, read_toml_bytes

MOST_WARNINGS = 20
"""The most warnings about unknown keys of one file."""


class SettingsFile(Struct, frozen=True):
    """A valid file of settings."""

    path: Path
    text: str
    table: dict[str, Any]
    """Its content, without unknown keys."""
    settings: Settings

    def line_of(self, key: str) -> int:
        """The line that sets a dotted key."""
        return line_of(self.text, key)


def load_settings(path: Path) -> Settings:
    """The settings in a file; the defaults if there is none.

    Raises:
        ConfigError: it cannot be read, is not TOML, or a value is invalid. The message is `FILE:LINE: …`.
    """
    file = read_settings(path)
    return Settings() if file is None else file.settings


def read_settings(path: Path) -> SettingsFile | None:
    """A file of settings; None if there is none. Raises ConfigError as `load_settings`."""
    data = read_toml_bytes(path)
    return None if data is None else parse_settings(data, path)


def parse_settings(data: bytes, path: Path) -> SettingsFile:
    """The settings in the content of a file. Raises ConfigError as `load_settings`."""
    text, table = parse_toml(data, path)
    warnings = _drop_unknown(table, path, text)

    def refuse(key: str, problem: str) -> ConfigError:
        return ConfigError(f"{path}:{line_of(text, key)}: {key}: {problem}", hint="correct the value")

    settings = msgspec.structs.replace(build_settings(table, refuse), warnings=warnings)
    return SettingsFile(path, text, table, settings)


def build_settings(table: Mapping[str, Any], refuse: Refuse) -> Settings:
    """Settings from plain data. Raises what `refuse` returns for an invalid value."""
    return convert(table, Settings, lambda key, problem: refuse(key, explain(problem, key, table)))


def explain(problem: str, key: str, table: Mapping[str, Any]) -> str:
    """The message about an invalid value, with the unit and the form that the setting declares.

    Args:
        problem: the message of msgspec.
        key: a dotted key; the index of an item of a list follows in brackets.
        table: the table that contains the value.
    """
    name, _, item = key.rstrip("]").partition("[")
    declared = declared_keys(Settings).get(name)
    if declared is None:
        return problem
    if declared.unit:
        problem = re.sub(r"^Expected `\w+` ([<>]=?) ([\d.]+?)(?:\.0)?$", rf"Expected {declared.unit} \1 \2", problem)
    if declared.form and item.isdecimal() and "matching regex" in problem:
        value = value_at(table, name.split("."))[int(item)]
        problem = f"{value!r} does not fit; write {declared.form}"
    return problem


def _drop_unknown(table: dict[str, Any], path: Path, text: str) -> list[str]:
    """Remove unknown keys. Returns the warnings about them."""
    unknown = list(unknown_keys(table, Settings))
    for keys in unknown:
        del value_at(table, keys[:-1])[keys[-1]]
    # Finding a line is a search of the whole text.
    warnings = [
        f"{path}:{line_of(text, dotted)}: unknown key {dotted}; it is ignored"
        for dotted in map(".".join, unknown[:MOST_WARNINGS])
    ]
    if len(unknown) > MOST_WARNINGS:
        warnings.append(f"{path}: {len(unknown) - MOST_WARNINGS:,} more unknown keys; they are ignored")
    return warnings
