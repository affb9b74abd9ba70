"""Project settings: what of a `.agentcli.toml` holds, by whether the person trusts it, and where its paths start."""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentcli.config.settings import RULE, RetrySettings

SAFE_KEYS = frozenset(
    {"thinking_level", "steering_mode", "follow_up_mode", "retry", "compaction", "permissions", "sandbox"}
)
"""What an untrusted file may set, `retry`, `permissions` and `sandbox` only to be stricter: it runs and allows nothing.

`model` is not among them: it says where the conversation goes, and `scripted:FILE` would say what to run.
"""

_STRICTNESS = ("auto", "ask", "read-only")
_SANDBOX_STRICTNESS = ("off", "workspace", "read-only")


def place_of(path: Path) -> Path:
    """Where a file lies: its folder's real path. What the file itself leads to, if it is a link, does not count."""
    return Path(os.path.realpath(path.parent)) / path.name


def placed(table: dict[str, Any], folder: Path, cwd: Path) -> dict[str, Any]:
    """A file's table with the relative paths of rules, shell and commands starting in the file's own folder."""
    table = dict(table)
    permissions = table.get("permissions")
    if isinstance(permissions, dict) and folder != cwd:
        table["permissions"] = {
            key: [placed_rule(rule, folder) for rule in value] if key in ("allow", "ask", "deny") else value
            for key, value in permissions.items()
        }
    if isinstance(sandbox := table.get("sandbox"), dict):
        table["sandbox"] = {
            key: [_placed_path(name, folder) for name in value]
            if key in ("writable", "hidden") and isinstance(value, list)
            else value
            for key, value in sandbox.items()
        }
    shell = table.get("shell")
    if isinstance(shell, str) and "/" in shell and not shell.startswith(("/", "~")):
        table["shell"] = str(folder / shell)
    if isinstance(providers := table.get("providers"), dict):
        table["providers"] = {name: _placed_provider(provider, folder) for name, provider in providers.items()}
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


def _placed_path(name: Any, folder: Path) -> Any:
    return str(folder / name) if isinstance(name, str) and not name.startswith(("/", "~")) else name


def _placed_provider(provider: Any, folder: Path) -> Any:
    command = provider.get("api_key_command") if isinstance(provider, dict) else None
    if not isinstance(command, str) or not any("/" in word or (folder / word).exists() for word in _words(command)):
        return provider
    return {**provider, "api_key_command": f"cd {shlex.quote(str(folder))} && {command}"}


def commands_of(table: Mapping[str, Any]) -> list[str]:
    """What the settings run: the shell, the editor, and what prints keys."""
    providers = table.get("providers")
    entries = providers.values() if isinstance(providers, dict) else ()
    found = [table.get("shell"), table.get("external_editor")]
    found += [entry.get("api_key_command") for entry in entries if isinstance(entry, dict)]
    return [command for command in found if isinstance(command, str)]


def scripts_of(table: Mapping[str, Any], folder: Path) -> list[Path]:
    """The files below the folder that the settings' commands name: what they hold is run too."""
    words = {word for command in commands_of(table) for word in _words(command)}
    names = {name for word in words for name in (word, word.rpartition("=")[2]) if name}
    return sorted({path for name in names if os.path.isfile(path := folder / name)})  # noqa: PTH113 (any text)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def tightened(table: dict[str, Any], before: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What of an untrusted table holds, and the keys that do not.

    Args:
        before: what is set by sources of less weight.
    """
    kept = {key: value for key, value in table.items() if key in SAFE_KEYS}
    ignored = [key for key in table if key not in SAFE_KEYS]
    if isinstance(kept.get("retry"), dict):
        kept["retry"] = _lowered(kept["retry"], before.get("retry"))
    if isinstance(kept.get("permissions"), dict):
        permissions = {key: value for key, value in kept["permissions"].items() if key in ("deny", "ask")}
        mode = kept["permissions"].get("mode")
        if mode is not None and _strictness(mode) > max(_strictness(_get(before, "permissions", "mode")), 0):
            permissions["mode"] = mode
        ignored += [f"permissions.{key}" for key in kept["permissions"] if key not in permissions]
        kept["permissions"] = permissions
    if isinstance(kept.get("sandbox"), dict):
        sandbox = _closer(kept["sandbox"], before)
        ignored += [f"sandbox.{key}" for key in kept["sandbox"] if key not in sandbox]
        kept["sandbox"] = sandbox
    return kept, ignored


def _closer(sandbox: dict[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """A stricter mode, and no network."""
    mode, usual = sandbox.get("mode"), _get(before, "sandbox", "mode") or "off"
    kept: dict[str, Any] = {}
    if mode in _SANDBOX_STRICTNESS and usual in _SANDBOX_STRICTNESS:
        is_closer = _SANDBOX_STRICTNESS.index(mode) > _SANDBOX_STRICTNESS.index(usual)
        kept = {"mode": mode} if is_closer else {}
    return kept | ({"network": "off"} if sandbox.get("network") == "off" else {})


def _lowered(retry: dict[str, Any], before: Any) -> dict[str, Any]:
    """Fewer retries than otherwise, and no shorter pauses."""
    usual = {name: getattr(RetrySettings(), name) for name in RetrySettings.__struct_fields__}
    usual |= before if isinstance(before, dict) else {}
    bounds = {"max_retries": min, "base_delay": max, "max_delay": min}
    return {key: bounds[key](value, usual[key]) for key, value in retry.items() if key in bounds}


def _strictness(mode: object) -> int:
    return _STRICTNESS.index(mode) if mode in _STRICTNESS else -1


def _get(table: Mapping[str, Any], *keys: str) -> Any:
    value: Any = table
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
