"""Trust: which project files a person has looked at and trusts, by their place and the hash of their content.

A file that was changed since is a file that nobody has looked at; so is one whose commands run a script that was. What
a trusted file denied and asked holds on all the same until the person trusts the file anew, or not any more.
"""

import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.config.paths import SETTINGS_NAME, trust_file
from agentcli.config.private_file import locked, read_private, write_private
from agentcli.config.project_settings import place_of, placed_rule, scripts_of
from agentcli.config.settings import PermissionSettings
from agentcli.config.toml_file import parse_toml
from agentcli.files.reading import read_bytes

MAX_BYTES = 16 << 20
"""Of the file: about a hundred thousand trusted files."""


class TrustStore(Struct, omit_defaults=True):
    """`trust.json`, by the path of the file with the links of its folder resolved."""

    files: dict[str, str] = {}
    """SHA-256 of the trusted content, scripts included."""
    rules: dict[str, PermissionSettings] = {}
    """What trusted files of settings deny and ask, with whole paths."""


def digest(path: Path, data: bytes) -> str:
    """The hash of a file's content, and of the scripts that it names."""
    import hashlib  # 3 ms, for those who have such files

    found = hashlib.sha256(data)
    for script in scripts_of(_settings_in(path, data), place_of(path).parent):
        found.update(f"\n{script}\n".encode("utf-8", "surrogateescape"))
        try:
            found.update(hashlib.sha256(read_bytes(script, MAX_BYTES)).digest())
        except OSError:
            # What cannot be read, or is endless, cannot be trusted: its hash is never the same.
            found.update(os.urandom(16))
    return found.hexdigest()


def _settings_in(path: Path, data: bytes) -> dict[str, Any]:
    if path.name != SETTINGS_NAME:
        return {}
    try:
        return parse_toml(data, path)[1]
    except ConfigError:
        return {}


def read_trust() -> TrustStore:
    """What is trusted.

    Raises:
        ConfigError: the file is broken. Then nothing is trusted, and nothing is written over it.
    """
    path = trust_file()
    data = read_private(path, MAX_BYTES)
    try:
        return TrustStore() if data is None else msgspec.json.decode(data, type=TrustStore)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}:1: cannot be read: {error}", hint="correct or remove it") from None


def is_trusted(path: Path, data: bytes) -> bool:
    """Whether a file is trusted with this content. `data` is what will be used, so that nothing can slip in between."""
    known = read_trust().files.get(str(place_of(path)))
    return known is not None and known == digest(path, data)


def kept_rules(cwd: Path) -> dict[Path, PermissionSettings]:
    """What trusted files of this folder and those above it denied and asked when they were trusted."""
    folders = {folder := Path(os.path.realpath(cwd)), *folder.parents}
    return {Path(name): rules for name, rules in read_trust().rules.items() if Path(name).parent in folders}


def trust(path: Path, data: bytes) -> None:
    """Trust a file as long as its content is `data`."""
    with locked(trust_file()):
        store = read_trust()
        name = str(place_of(path))
        store.files[name] = digest(path, data)
        store.rules.pop(name, None)
        permissions = _settings_in(path, data).get("permissions")
        if isinstance(permissions, dict) and (permissions.get("deny") or permissions.get("ask")):
            folder = place_of(path).parent
            deny, ask = ([placed_rule(rule, folder) for rule in permissions.get(key, [])] for key in ("deny", "ask"))
            store.rules[name] = PermissionSettings(deny=deny, ask=ask)
        write_private(trust_file(), msgspec.json.format(msgspec.json.encode(store)))


def distrust(folder: Path) -> list[Path]:
    """Trust no file in a folder or below it any more. Returns those that were trusted."""
    with locked(trust_file()):
        store = read_trust()
        inside = [Path(name) for name in store.files if Path(name).is_relative_to(folder.resolve())]
        for path in inside:
            del store.files[str(path)]
            store.rules.pop(str(path), None)
        write_private(trust_file(), msgspec.json.format(msgspec.json.encode(store)))
    return inside
