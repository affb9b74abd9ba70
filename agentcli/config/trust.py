"""Trust: which project files the user trusts, by path and hash of the content.

A file that has changed is not trusted, nor is one whose commands run a script that has changed. The deny and ask rules
of a trusted file keep applying until the user trusts the file again, or removes the trust.
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
"""Of the list: about a hundred thousand trusted files."""


class TrustStore(Struct, omit_defaults=True):
    """The content of `trust.json`, by the path of the file as `place_of` returns it."""

    files: dict[str, str] = {}
    """SHA-256 of the trusted content, scripts included."""
    rules: dict[str, PermissionSettings] = {}
    """The deny and ask rules of trusted files of settings, with absolute paths."""


def digest(path: Path, data: bytes) -> str:
    """The hash of a file's content and of the scripts that it names."""
    import hashlib  # slow to import, and only needed with such files

    found = hashlib.sha256(data)
    for script in scripts_of(_settings_in(path, data), place_of(path).parent):
        found.update(f"\n{script}\n".encode("utf-8", "surrogateescape"))
        try:
            found.update(hashlib.sha256(read_bytes(script, MAX_BYTES)).digest())
        except OSError:
            # What cannot be read cannot be trusted: its hash is a different one each time.
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
    """Read the list of trusted files.

    Raises:
        ConfigError: the list is broken. Then nothing is trusted, and it is not overwritten.
    """
    path = trust_file()
    data = read_private(path, MAX_BYTES)
    try:
        return TrustStore() if data is None else msgspec.json.decode(data, type=TrustStore)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}:1: cannot be read: {error}", hint="correct or remove it") from None


def is_trusted(path: Path, data: bytes) -> bool:
    """Whether a file is trusted with this content, which has to be the content that is then used."""
    known = read_trust().files.get(str(place_of(path)))
    return known is not None and known == digest(path, data)


def kept_rules(cwd: Path) -> dict[Path, PermissionSettings]:
    """The deny and ask rules that trusted files, here and above, had when they were trusted."""
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
    """Remove the trust in all files in a directory and below. Returns those that were trusted."""
    with locked(trust_file()):
        store = read_trust()
        inside = [Path(name) for name in store.files if Path(name).is_relative_to(folder.resolve())]
        for path in inside:
            del store.files[str(path)]
            store.rules.pop(str(path), None)
        write_private(trust_file(), msgspec.json.format(msgspec.json.encode(store)))
    return inside
