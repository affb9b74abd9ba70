"""Loading one file of settings: a wrong file is one line that says where, an unknown key only a warning."""

import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.config.settings import RULE, ProviderSettings, Settings
from agentcli.config.toml_file import Refuse, convert, line_of, parse_toml, read_toml_bytes

NOT_KEYS = {"warnings"}

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


def build_settings(table: dict[str, Any], refuse: Refuse) -> Settings:
    """Settings from plain data. Raises what `refuse` makes of a value that does not fit."""
    table = dict(table)
    # msgspec's errors do not name the key of a table of tables, so each of those is converted by itself.
    providers = table.pop("providers", {})
    if not isinstance(providers, dict):
        raise refuse("providers", "Expected tables [providers.NAME]")
    converted = {
        name: convert(provider, ProviderSettings, f"providers.{name}", refuse) for name, provider in providers.items()
    }
    settings = msgspec.structs.replace(convert(table, Settings, "", refuse), providers=converted)
    for name in ("bash_timeout", "first_token_timeout", "idle_timeout"):
        if not getattr(settings, name) > 0:
            raise refuse(name, "Expected seconds > 0")
    if not settings.notify_after >= 0:
        raise refuse("notify_after", "Expected seconds >= 0")
    for name in ("reserve_tokens", "keep_recent_tokens"):
        if getattr(settings.compaction, name) < 0:
            raise refuse(f"compaction.{name}", "Expected tokens >= 0")
    for name in ("allow", "ask", "deny"):
        for rule in getattr(settings.permissions, name):
            if not re.fullmatch(RULE, rule, re.S):
                raise refuse(f"permissions.{name}", f"{rule!r} is no rule; write tool, tool(path) or bash(first words)")
    return settings


def _drop_unknown(table: dict[str, Any], path: Path, text: str) -> list[str]:
    """Take out the keys that no setting has, and say so."""
    unknown = [(key,) for key in table if key not in Settings.__struct_fields__ or key in NOT_KEYS]
    for name, kind in sections():
        section = table.get(name)
        if isinstance(section, dict):
            unknown += [(name, key) for key in section if key not in kind.__struct_fields__]
    providers = table.get("providers")
    for name, provider in providers.items() if isinstance(providers, dict) else ():
        if isinstance(provider, dict):
            unknown += [("providers", name, key) for key in provider if key not in ProviderSettings.__struct_fields__]
    warnings: list[str] = []
    for keys in unknown:
        place = table
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]
        # To find a line takes a search of the text.
        if len(warnings) < MOST_WARNINGS:
            dotted = ".".join(keys)
            warnings.append(f"{path}:{line_of(text, dotted)}: unknown key {dotted}; it is ignored")
    if len(unknown) > MOST_WARNINGS:
        warnings.append(f"{path}: {len(unknown) - MOST_WARNINGS:,} more unknown keys; they are ignored")
    return warnings


def sections() -> list[tuple[str, type[Struct]]]:
    """The tables of settings that have a schema of their own: `[retry]` and its like."""
    defaults = Settings()
    values = [(name, getattr(defaults, name)) for name in Settings.__struct_fields__]
    return [(name, type(value)) for name, value in values if isinstance(value, Struct)]
