"""Finish reasons: what the words mean with which servers say that an answer is over, and why.

One table for all wire APIs (`finish_reason`, `stop_reason`, the reason of an incomplete response) and their dialects: a
word means the same wherever it is used. A word that is not in it is no success.
"""

import re

from agentcli.agent.errors import (
    BadResponseError,
    ContextOverflowError,
    NetworkError,
    OverloadedError,
    ProviderError,
    ProviderTimeoutError,
    RefusedError,
)
from agentcli.agent.messages import StopReason
from agentcli.providers.http.classify import one_line

_WORDS: dict[StopReason | type[ProviderError], str] = {
    # The answer is complete. `complete` is Cohere's, `eos` and `eos_token` come from older servers of open models.
    StopReason.DONE: "stop end end_turn stop_sequence eos eos_token complete completed",
    StopReason.TOOL_CALLS: "tool_calls tool_call tool_use function_call",
    # The output limit. `model_length` is Mistral's.
    StopReason.LENGTH: "length max_tokens max_output_tokens max_completion_tokens max_length model_length",
    # Anthropic's first, then Gemini's, Z.ai's, Bedrock's.
    RefusedError: (
        "content_filter refusal safety recitation language blocklist prohibited_content spii image_safety"
        " sensitive content_filtered guardrail_intervened"
    ),
    ContextOverflowError: (
        "model_context_window_exceeded context_window_exceeded context_length_exceeded context_length"
    ),
    # The first is DeepSeek's. `error` says no more than that.
    OverloadedError: "insufficient_system_resource overloaded server_error internal_error error",
    NetworkError: "network_error connection_error",
    ProviderTimeoutError: "timeout",
    # Broken off by the server (vLLM, gateways), or a call that Gemini itself could not read.
    BadResponseError: (
        "abort aborted cancelled canceled interrupted repetition_truncation repetition"
        " malformed_function_call unexpected_tool_call too_many_tool_calls other"
    ),
    # Nothing is wrong, but the answer is not at its end, and asking again would lead to the same place.
    ProviderError: "pause_turn compaction steered max_messages",
}
MEANINGS: dict[str, StopReason | type[ProviderError]] = {
    word: meaning for meaning, words in _WORDS.items() for word in words.split()
}
"""Every word that is known."""

_OVERFLOW = r"context_(window|length|size|limit)|(prompt|input)_too_long"
_PASSES = (
    r"error|fail|abort|cancel|interrupt|overload|insufficient|unavailable|time_?out|network|connection|truncat|exhaust"
    r"|disconnect|reset"
)
"""What an unknown word says that may be different the next time."""


def stop_reason_of(reason: str, *, field: str, provider: str) -> StopReason:
    """What a finish reason means.

    Args:
        field: what the wire API calls it, for the error message.

    Raises:
        ProviderError: the answer is not complete, for this reason; its class says whether trying again can help.
    """
    word = re.sub(r"[\s-]+", "_", reason.partition(":")[0].strip().lower())
    meaning = MEANINGS.get(word) or _guess(word)
    if isinstance(meaning, StopReason):
        return meaning
    shown = one_line(reason, 100)
    if meaning is RefusedError:
        raise RefusedError(f"{provider} refused to answer: {shown}")
    if meaning is ContextOverflowError:
        raise ContextOverflowError(f"{provider} broke off its answer: the model's window is full ({field} `{shown}`)")
    known = "" if word in MEANINGS else ", which is not known"
    raise meaning(f"{provider} did not complete its answer: its {field} is `{shown}`{known}")


def _guess(word: str) -> type[ProviderError]:
    if re.search(_OVERFLOW, word):
        return ContextOverflowError
    return BadResponseError if re.search(_PASSES, word) else ProviderError
