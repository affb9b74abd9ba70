"""Compat: what is unusual about a server, as data. The keys of `Model.compat` and of a provider's `compat` table.

Everything has a default that suits most servers; a key that no wire API knows is ignored.
"""

from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.agent.models import Model


class Compat(Struct, frozen=True, kw_only=True):
    """The switches of all wire APIs. Which one reads a switch is said where it is not all of them."""

    auth: Literal["", "bearer", "x-api-key", "api-key", "none"] = ""
    """How the key is sent: `Authorization: Bearer KEY`, or the header of that name. Empty is the wire API's own way."""
    extra_body: dict[str, Any] = {}
    """Merged into every request body, last: routing, sampling, whatever the server knows."""
    prompt_cache_key: bool = False
    """The server takes `prompt_cache_key` (OpenAI wire APIs), so that a session finds its cache again."""
    prompt_cache_retention: bool = False
    """The server takes `prompt_cache_retention: "24h"` when the cache retention is `long` (OpenAI wire APIs)."""
    cache_control: bool | None = None
    """Mark what to cache with `cache_control`. None: for anthropic-messages only; chat completions on request."""
    long_cache: bool = True
    """`cache_control` may ask for an hour."""
    always_max_tokens: bool = False
    """Send the output limit even if nobody set one, as the server's own default is too small."""
    thinking_format: Literal["", "effort", "budget", "adaptive", "openrouter", "switch", "qwen", "template", "none"] = (
        ""
    )
    """How a thinking level is told. Chat completions: `effort` (`reasoning_effort`, the default), `openrouter`
    (`reasoning: {effort}`), `switch` (`thinking: {type: enabled|disabled}`: DeepSeek, Z.ai, Kimi), `qwen`
    (`enable_thinking`), `template` (`chat_template_kwargs: {enable_thinking}`: vLLM, llama.cpp), `none`.
    anthropic-messages: `budget` (tokens, the default), `adaptive` (the model decides, guided by an effort)."""

    think_tags: Literal["", "none", "leading", "opened"] = ""
    """Whether the model thinks in its text: `leading` between tags such as `<think>` and `</think>` at its start;
    `opened` too, and where the server's template has already opened the tag, so that only its end comes. Empty is
    what is known of the model or server (`think_tags`)."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """chat completions: the name of the output limit."""
    system_role: Literal["system", "developer"] = "system"
    """chat completions: the role of the system prompt."""
    usage_in_stream: bool = True
    """chat completions: the server takes `stream_options: {include_usage}`."""
    store: bool = False
    """chat completions: the server takes `store`, and is told not to."""
    send_reasoning: bool = False
    """chat completions: the model's thinking goes back to it, under the key it came in."""
    require_reasoning: bool = False
    """chat completions: every assistant message needs `reasoning_content`, an empty one if there was no thinking, or
    another model's. Only with `send_reasoning`."""
    empty_content: Literal["null", "omit", "empty"] = "null"
    """chat completions: the `content` of an assistant message that has only calls."""
    tool_call_ids: Literal["", "mistral"] = ""
    """chat completions: `mistral` wants exactly nine letters or digits."""
    tool_result_name: bool = False
    """chat completions: a tool result also has the tool's `name`."""
    assistant_after_tool: bool = False
    """chat completions: a user message may not follow a tool result; a short assistant message goes between."""
    images_in_tool_results: bool = False
    """chat completions: images may stand in the tool message itself; else they follow in a user message."""
    tools_with_history: bool = False
    """chat completions: `tools` must be there, if empty, when the history has calls."""


_HOSTS: dict[str, dict[str, Any]] = {
    "api.openai.com": {
        "max_tokens_field": "max_completion_tokens",
        "system_role": "developer",
        "prompt_cache_key": True,
        "store": True,
    },
}
"""What holds for a host whoever configures it; what the model or provider says wins."""


def compat_of(model: Model) -> Compat:
    """The switches for a model. Raises ConfigError if one has a value it cannot have."""
    known = _HOSTS.get(host_of(model.base_url), {})
    try:
        return msgspec.convert({**known, **model.compat}, Compat)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"`compat` of {model.full_id}: {error}", hint="correct it in the configuration of the provider or the model"
        ) from error


def host_of(base_url: str) -> str:
    """The host of a base URL, in lower case; empty if it has none, or is no URL (`endpoint` says what is wrong)."""
    try:
        return urlsplit(base_url.strip()).hostname or ""
    except ValueError:
        return ""


_PLACES = ("region", "project", "profile")
"""Where a cloud's models are: keys that `anthropic_cloud` reads."""


def unknown_compat_keys(compat: dict[str, Any]) -> list[str]:
    """The keys that nothing reads: probably misspelt."""
    return [key for key in compat if key not in (*Compat.__struct_fields__, *_PLACES)]
