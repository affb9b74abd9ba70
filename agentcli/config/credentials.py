"""Credentials: where a provider's key comes from, and which variables are hidden from child processes.

The sources of a key, in order: `api_key` of the provider's table, the environment, the provider's key command, and what
`agentcli auth login` has stored. Every key that is found is registered with `masking`.
"""

import os
import re
from collections.abc import Iterable

from agentcli.agent.errors import CredentialsError
from agentcli.agent.models import Provider, clean_key
from agentcli.config import key_store
from agentcli.config.masking import remember_key
from agentcli.config.paths import config_file

COMMAND_TIMEOUT_S = 60.0
"""Long enough for a password manager that asks the user first."""

KEY_VARIABLES = frozenset({
    "AI_GATEWAY_API_KEY",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_OAUTH_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "CEREBRAS_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "KIMI_API_KEY",
    "MISTRAL_API_KEY",
    "MOONSHOT_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
    "ZAI_API_KEY",
})  # fmt: skip
"""Variables that contain keys of model providers."""

_printed: dict[str, str] = {}
"""The output of key commands, by command."""


def key_variables(provider: Provider) -> list[str]:
    """The variables that may contain a provider's key, in order."""
    return provider.api_key_env or [re.sub(r"\W", "_", provider.name).upper() + "_API_KEY"]


def key_source(provider: Provider) -> str | None:
    """Where the provider's key comes from, for messages; None if there is none. Runs no command, opens no keyring."""
    if provider.api_key.strip():
        return "the configuration"
    for name in key_variables(provider):
        if os.environ.get(name, "").strip():
            return name
    if provider.api_key_command:
        return "key command"
    stored = key_store.stored_providers().get(provider.name)
    return {"file": "auth.toml", "keyring": "keyring"}.get(stored or "")


def has_key(provider: Provider) -> bool:
    """Whether there is a key, as far as that is known without running a command."""
    return key_source(provider) is not None


def is_quick(provider: Provider) -> bool:
    """Whether `find_key` returns at once: it runs no command and opens no keyring."""
    return key_source(provider) not in ("key command", "keyring") or provider.api_key_command in _printed


def find_key(provider: Provider) -> str | None:
    """The provider's key, trimmed; None if there is none (an empty one does not count).

    Raises:
        CredentialsError: the command failed, or the stored keys cannot be read.
    """
    key = provider.api_key.strip() or _in_environment(provider)
    if not key and provider.api_key_command:
        key = _ask_command(provider)
    elif not key:
        key = (key_store.stored_key(provider.name) or "").strip()
    if key:
        remember_key(key)
    return key or None


def _in_environment(provider: Provider) -> str:
    values = (os.environ.get(name, "").strip() for name in key_variables(provider))
    return next(filter(None, values), "")


def forget_key(provider: Provider) -> None:
    """Run the key command again for the next request, because the server refused the key."""
    _printed.pop(provider.api_key_command, None)


def require_key(provider: Provider) -> str | None:
    """The provider's key, valid in a header; None if there is none and the provider needs none.

    Raises:
        CredentialsError: there is none and the provider needs one, or it contains a character that no key has. The
            message contains the source and the position, never the value.
    """
    key = find_key(provider)
    names = " or ".join(key_variables(provider))
    if key is None:
        if provider.needs_key:
            hint = f"set {names}, or run `agentcli auth login {provider.name}`, or set "
            hint += f"providers.{provider.name}.api_key_command in {config_file()}"
            raise CredentialsError(f"no key for {provider.label or provider.name}", hint=hint)
        return None
    return clean_key(key, source=f"the key in {key_source(provider) or names}")


def hidden_variables(providers: Iterable[Provider], kept: Iterable[str] = ()) -> frozenset[str]:
    """The variables that are removed from the environment of every child process.

    Args:
        providers: those whose key variables are removed.
        kept: variables that are not removed.
    """
    return KEY_VARIABLES.union(*(key_variables(provider) for provider in providers)).difference(kept)


def _ask_command(provider: Provider) -> str:
    import subprocess  # slow to import

    command = provider.api_key_command
    if command in _printed:
        return _printed[command]
    place = f"the key command of {provider.label or provider.name}"
    hint = f"try providers.{provider.name}.api_key_command by hand"
    environment = {name: value for name, value in os.environ.items() if name not in hidden_variables([provider])}
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CredentialsError(f"{place} did not end within {COMMAND_TIMEOUT_S:g} s", hint=hint) from None
    if done.returncode != 0:
        raise CredentialsError(f"{place} failed with exit code {done.returncode}", hint=hint)
    key = done.stdout.decode("utf-8", "replace").strip()
    if not key:
        raise CredentialsError(f"{place} printed nothing", hint=hint)
    _printed[command] = key
    return key
