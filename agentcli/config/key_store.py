"""Stored keys: `auth.toml` (0600), which contains a provider's key, or that it is in the system keyring.

The keyring is slow to import and to read, so it is used for providers in `auth.toml` only.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentcli.agent.errors import CredentialsError
from agentcli.config.paths import auth_file
from agentcli.config.private_file import locked, read_private, write_private
from agentcli.config.toml_file import MAX_BYTES, decode_toml, load_toml

SERVICE = "agentcli"
"""The name of agentcli in the keyring."""


def stored_providers() -> dict[str, str]:
    """Where the key of each provider is stored, by its name: `file` or `keyring`."""
    return {name: "keyring" if "keyring" in entry else "file" for name, entry in _read().items()}


def keys_in_file() -> list[str]:
    """Every key that is in `auth.toml` itself."""
    return [entry["key"] for entry in _read().values() if "key" in entry]


def stored_key(provider: str) -> str | None:
    """The stored key of a provider. Raises CredentialsError if the file or the keyring cannot be read."""
    entry = _read().get(provider, {})
    if "keyring" in entry:
        return _keyring().get_password(SERVICE, provider)
    return entry.get("key")


def store_key(provider: str, key: str, *, in_keyring: bool) -> None:
    """Store a provider's key. Raises CredentialsError or ConfigError if it cannot be written."""
    if in_keyring:
        _keyring().set_password(SERVICE, provider, key)
    entry: dict[str, Any] = {"keyring": True} if in_keyring else {"key": key}
    with locked(auth_file()):
        _write({**_read(), provider: entry})


def remove_key(provider: str) -> bool:
    """Delete a provider's stored key. Returns whether there was one."""
    with locked(auth_file()):
        entries = dict(_read())
        entry = entries.pop(provider, None)
        if entry is None:
            return False
        if "keyring" in entry:
            _forget_in_keyring(provider)
        _write(entries)
    return True


def has_keyring() -> bool:
    """Whether keys can be stored in a system keyring."""
    try:
        import keyring  # slow to import
    except ImportError:
        return False
    return keyring.get_keyring().priority > 0


def _keyring() -> Any:
    try:
        import keyring  # slow to import
        import keyring.errors
    except ImportError:
        hint = "pip install keyring, or log in again with --store file"
        raise CredentialsError("the keyring cannot be used: the package keyring is not installed", hint=hint) from None
    return _Keyring(keyring, keyring.errors.KeyringError)


class _Keyring:
    """The calls of the keyring, with failures of any backend as `CredentialsError`."""

    def __init__(self, module: Any, failure: type[Exception]) -> None:
        self._module = module
        self._failure = failure

    def get_password(self, service: str, name: str) -> str | None:
        return self._call(self._module.get_password, service, name)

    def set_password(self, service: str, name: str, key: str) -> None:
        self._call(self._module.set_password, service, name, key)

    def delete_password(self, service: str, name: str) -> None:
        self._call(self._module.delete_password, service, name)

    def _call(self, function: Any, *arguments: str) -> Any:
        try:
            return function(*arguments)
        except self._failure as error:
            # The message of a backend may contain the key.
            problem = f"the system keyring cannot be used: {type(error).__name__}"
            raise CredentialsError(problem, hint="unlock it, or log in again with --store file") from None


def _forget_in_keyring(provider: str) -> None:
    keyring = _keyring()
    if keyring.get_password(SERVICE, provider) is not None:
        keyring.delete_password(SERVICE, provider)


def _read() -> Mapping[str, dict[str, Any]]:
    path = auth_file()
    data = read_private(path, MAX_BYTES, _require_private, failure=CredentialsError)
    return {} if data is None else _parse(path, data)


def _require_private(path: Path, status: os.stat_result) -> None:
    if status.st_mode & 0o077:
        raise CredentialsError(f"{path}: other users can read it", hint=f"chmod 600 {path}")


def _parse(path: Path, data: bytes) -> dict[str, dict[str, Any]]:
    try:
        table = load_toml(decode_toml(data))
    except ValueError as error:
        # The message of the parser may contain the line, and with it the key.
        line = getattr(error, "lineno", 1)
        hint = "correct it, or remove it and log in again"
        raise CredentialsError(f"{path}:{line}: the file is not TOML", hint=hint) from None
    entries: dict[str, dict[str, Any]] = {}
    for name, entry in table.items():
        valid = isinstance(entry, dict) and (isinstance(entry.get("key"), str) or entry.get("keyring") is True)
        if not valid:
            hint = 'write key = "…" or keyring = true'
            raise CredentialsError(f"{path}:1: [{name}] holds no key", hint=hint)
        entries[name] = entry
    return entries


def _write(entries: Mapping[str, Mapping[str, Any]]) -> None:
    import tomlkit  # slow to import

    text = tomlkit.dumps(dict(entries))
    write_private(auth_file(), text.encode())
