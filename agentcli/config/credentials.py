"""Credentials: where a provider's key comes from, and which variables no child process may see."""

import os
import re
from collections.abc import Iterable

from agentcli.agent.errors import CredentialsError
from agentcli.agent.models import Provider

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
"""Variables that hold keys of model providers."""


def key_variables(provider: Provider) -> list[str]:
    """The variables that may hold a provider's key, in order."""
    return provider.api_key_env or [re.sub(r"\W", "_", provider.name).upper() + "_API_KEY"]


def find_key(provider: Provider) -> str | None:
    """The provider's key, trimmed; None if no variable holds one (an empty one does not count)."""
    for name in key_variables(provider):
        if key := os.environ.get(name, "").strip():
            return key
    return None


def require_key(provider: Provider) -> str | None:
    """The provider's key, fit for a header.

    Raises:
        CredentialsError: there is none and the provider needs one, or it holds a character that no key has. The message
            names the variable and the place in it, never the value.
    """
    key = find_key(provider)
    names = " or ".join(key_variables(provider))
    if key is None:
        if provider.needs_key:
            raise CredentialsError(f"no key for {provider.label or provider.name}", hint=f"set {names}")
        return None
    for position, character in enumerate(key, 1):
        if not "\x21" <= character <= "\x7e":
            problem = f"character {position} of the key in {names} is U+{ord(character):04X}, which no key has"
            raise CredentialsError(problem, hint="copy the key again")
    return key


def hidden_variables(providers: Iterable[Provider]) -> frozenset[str]:
    """What is taken out of the environment of every child process."""
    return KEY_VARIABLES.union(*(key_variables(provider) for provider in providers))
