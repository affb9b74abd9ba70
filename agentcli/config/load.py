"""Loading one file of settings: a wrong file is one line that says where, an unknown key only a warning."""

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
"""Lines about the unknown keys of one file."""


class SettingsFile(Struct, frozen=True):
    path: Path
    text: str
    table: dict[str, Any]
    """What it sets, without unknown keys."""
    settings: Settings

    def line_of(self, key: str) -> int:
        return line_of(self.text, key)


def load_settings(path: Path) -> Settings:
    """The settings in a file; the defaults if there is none.

    Raises:
        ConfigError: it cannot be read, is not TOML, or a value is of the wrong type. The message is `FILE:LINE: …`.
    """
    file = read_settings(path)
    return Settings() if file is None else file.settings


def read_settings(path: Path) -> SettingsFile | None:
    """A file of settings; None if there is none. Raises ConfigError as `load_settings` does."""
    data = read_toml_bytes(path)
    return None if data is None else parse_settings(data, path)


def parse_settings(data: bytes, path: Path) -> SettingsFile:
    """The settings in the content of a file. Raises ConfigError as `load_settings` does."""
    text, table = parse_toml(data, path)
    warnings = _drop_unknown(table, path, text)

    def refuse(key: str, problem: str) -> ConfigError:
        return ConfigError(f"{path}:{line_of(text, key)}: {key}: {problem}", hint="correct the value")

    settings = msgspec.structs.replace(build_settings(table, refuse), warnings=warnings)
    return SettingsFile(path, text, table, settings)


def build_settings(table: Mapping[str, Any], refuse: Refuse) -> Settings:
    """Settings from plain data. Raises what `refuse` makes of a value that does not fit."""
    return convert(table, Settings, lambda key, problem: refuse(key, explain(problem, key, table)))


def explain(problem: str, key: str, table: Mapping[str, Any]) -> str:
    """What msgspec says of a value that does not fit, in the words of the setting's declaration.

    Args:
        key: a dotted key; the item of a list follows in brackets.
        table: what the value is in.
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
    """Take out the keys that no setting has. Returns a warning for each."""
    unknown = list(unknown_keys(table, Settings))
    for keys in unknown:
        del value_at(table, keys[:-1])[keys[-1]]
    # To find a line takes a search of the text.
    warnings = [
        f"{path}:{line_of(text, dotted)}: unknown key {dotted}; it is ignored"
        for dotted in map(".".join, unknown[:MOST_WARNINGS])
    ]
    if len(unknown) > MOST_WARNINGS:
        warnings.append(f"{path}: {len(unknown) - MOST_WARNINGS:,} more unknown keys; they are ignored")
    return warnings
