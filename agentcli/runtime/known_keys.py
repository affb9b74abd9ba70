"""Known keys: makes known to `masking` what is secret in the environment, in `auth.toml` and in the settings."""

import re

from agentcli.config import key_store
from agentcli.config.masking import password_in, remember_environment, remember_key
from agentcli.config.settings import Settings

_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.I)


def remember_keys(settings: Settings, variables: frozenset[str]) -> None:
    """Remember every key that can be found.

    Args:
        variables: names of environment variables that hold one.
    """
    remember_environment(variables)
    for key in key_store.keys_in_file():
        remember_key(key)
    for provider in settings.providers.values():
        fields = provider.overrides()
        remember_key(password_in(fields.get("base_url", "")))
        remember_key(fields.get("api_key", ""))
        _remember_headers(fields.get("headers", {}))
    for model in settings.models.values():
        _remember_headers(model.get("headers", {}))


def _remember_headers(headers: object) -> None:
    for name, value in headers.items() if isinstance(headers, dict) else ():
        if _SECRET_HEADER.search(name) and isinstance(value, str):
            remember_key(value)
            remember_key(value.rpartition(" ")[2])
