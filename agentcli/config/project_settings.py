"""Project settings: which settings of a `.agentcli.toml` apply if the user does not trust it, and where paths start."""

import os
import re
import shlex
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, assert_never

from agentcli.agent.tables import value_at
from agentcli.config.declaration import Declared, declared, leaves
from agentcli.config.settings import RULE, Settings


def place_of(path: Path) -> Path:
    """The path of a file with the links of its directory resolved, but not a link that it is itself."""
    return Path(os.path.realpath(path.parent)) / path.name


def placed(table: dict[str, Any], folder: Path, cwd: Path) -> dict[str, Any]:
    """A file's table with the relative paths of rules, shell and commands starting in the file's own directory."""
    table = deepcopy(table)
    for path, each, value in list(leaves(table, Settings)):
        match each.relative:
            case "":
                continue
            case "rules":
                value = value if folder == cwd else [placed_rule(rule, folder) for rule in value]
            case "path":
                value = [_placed_path(name, folder) for name in value]
            case "program":
                value = _placed_path(value, folder) if "/" in value else value
            case "command":
                value = _placed_command(value, folder)
            case missing:
                assert_never(missing)
        _put(table, path, value)
    return table


def placed_rule(rule: str, folder: Path) -> str:
    """A rule with a relative path, such as `read(secrets/**)`, as one with a whole path."""
    found = re.fullmatch(RULE, rule.strip(), re.S)
    pattern = found["pattern"] if found else None
    if found is None or not pattern or found["tool"] == "bash" or pattern.startswith(("/", "~", "**/")):
        return rule
    pattern = re.sub(r"^(\./)+", "", pattern)
    while pattern == ".." or pattern.startswith("../"):
        folder, pattern = folder.parent, pattern[3:]
    start = re.sub(r"([*?\[\]{}\\])", r"\\\1", str(folder).rstrip("/"))
    return f"{found['tool']}({start}/{pattern})" if pattern not in ("", ".") else f"{found['tool']}({start})"


def _placed_path(name: str, folder: Path) -> str:
    return name if name.startswith(("/", "~")) else str(folder / name)


def _placed_command(command: str, folder: Path) -> str:
    if not any("/" in word or (folder / word).exists() for word in _words(command)):
        return command
    return f"cd {shlex.quote(str(folder))} && {command}"


def commands_of(table: Mapping[str, Any]) -> list[str]:
    """The commands that the settings run: the shell, the editor, and those that print keys."""
    found = [value for _, each, value in leaves(table, Settings) if each.is_command]
    return [command for command in found if isinstance(command, str)]


def scripts_of(table: Mapping[str, Any], folder: Path) -> list[Path]:
    """The files below the directory that the settings' commands name: their content is run too."""
    words = {word for command in commands_of(table) for word in _words(command)}
    names = {name for word in words for name in (word, word.rpartition("=")[2]) if name}
    return sorted({path for name in names if os.path.isfile(path := folder / name)})  # noqa: PTH113 (any text)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def tightened(table: dict[str, Any], before: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Reduce the settings of an untrusted file to those that it may set.

    Args:
        table: the settings of the file.
        before: the merged tables of the sources of lower precedence.

    Returns:
        The settings that apply, and the keys of the others.
    """
    kept: dict[str, Any] = {}
    ignored: list[str] = []
    for path, each, value in leaves(table, Settings):
        usual = value_at(before, path)
        usual = each.default if usual is None else usual
        if _may_set(each, value, usual):
            bound = {"lower": min, "higher": max}.get(each.untrusted)
            _put(kept, path, bound(value, usual) if bound else value)
        else:
            ignored.append(path[0] if declared(Settings)[path[0]].is_table else ".".join(path))
    return kept, list(dict.fromkeys(ignored))


def _may_set(each: Declared, value: Any, usual: Any) -> bool:
    match each.untrusted:
        case "never":
            return False
        case "any" | "lower" | "higher":
            return True
        case "stricter":
            loosest_first = each.strictness
            return loosest_first.index(value) > (0 if usual is None else loosest_first.index(usual))
        case "off":
            return value == "off"


def _put(table: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        table = table.setdefault(key, {})
    table[path[-1]] = value
