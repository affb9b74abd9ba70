"""AnswerText: the text of an answer, in which some open models think between tags before they speak.

`<think>…</think>` at the very start of an answer is thinking; a tag anywhere else is text that speaks of one. Thinking
whose tag is never closed is thinking to its end. `Compat.think_tags` says for which models this holds.
"""

import re
from collections.abc import Callable

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import StreamOptions
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.providers.catalog.compat import Compat, host_of
from agentcli.providers.thinking import thinking_of

TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
)
"""Opening and closing tag, in lower case; which case a model writes does not matter."""

_MODELS = (
    *("deepseek-r1", "deepseekr1", "r1-distill", "qwq", "qwen3", "qwen-3", "minimax-m", "glm-4", "glm4", "smollm3"),
    *("magistral", "nemotron", "seed-oss", "exaone-deep", "marco-o1", "openthinker", "hunyuan"),
)
"""Models that are known to think in tags, by a part of their id: a server that does not take the tags apart passes
them on."""

_LOCAL = ("localhost", "::1", "0.0.0.0", "host.docker.internal")
"""Servers on this machine, which serve open models, beside 127.*."""

_LONGEST = max(len(opening) for opening, _ in TAGS)
_MOST_BLANKS = 1000
"""Characters of whitespace that are held back before a tag."""


def think_tags_of(model: Model, compat: Compat, options: StreamOptions) -> str:
    """What holds for an answer: what the model's `compat` says, else what is known of it."""
    if compat.think_tags == "opened" and model.reasoning and not thinking_of(model, options).on:
        return "leading"  # told not to think, a template opens nothing
    if compat.think_tags:
        return compat.think_tags
    id, host = model.id.lower(), host_of(model.base_url)
    is_local = host in _LOCAL or host.startswith("127.")
    return "leading" if is_local or any(part in id for part in _MODELS) else "none"


class AnswerText:
    """Args:
    tags: as `think_tags_of` gives it.
    """

    __slots__ = ("_closing", "_held", "_partial", "_untagged", "take")

    def __init__(self, partial: PartialMessage, tags: str) -> None:
        self._partial = partial
        self._held = ""
        """What may be the beginning of a tag."""
        self._closing = TAGS[0][1]
        self._untagged = self._start_thinking if tags == "opened" else partial.text
        """Takes the text of an answer that does not begin with a tag."""
        self.take: Callable[[str], list[AssistantMessageEvent]] = partial.text if tags == "none" else self._begin
        """The events of a piece of text. Each state is one method; the last costs nothing."""

    def end(self) -> list[AssistantMessageEvent]:
        """The answer is over: what was held back is what it looks like."""
        held, self._held = self._held, ""
        state, self.take = self.take, self._partial.text
        if not held.strip():
            return []
        return self._partial.thinking(held) if state == self._think else self._untagged(held)

    def end_block(self) -> list[AssistantMessageEvent]:
        """A block of text is over, where the wire API has such: what it held back is its own."""
        return self.end() if self._held.strip() else []

    def _begin(self, delta: str) -> list[AssistantMessageEvent]:
        text = self._held + delta
        start = text.lstrip()
        word = start[:_LONGEST].lower()
        self._held = ""
        for opening, closing in TAGS:
            if word.startswith(opening):
                self._closing = closing
                return self._start_thinking(start[len(opening) :])
        if len(text) < _MOST_BLANKS and (not word or any(opening.startswith(word) for opening, _ in TAGS)):
            self._held = text
            return []
        self.take = self._partial.text
        return self._untagged(text)

    def _start_thinking(self, text: str) -> list[AssistantMessageEvent]:
        """Pass over the line break after the tag."""
        self.take = self._start_thinking
        if not (text := text.lstrip()):
            return []
        self.take = self._think
        return self._think(text)

    def _think(self, delta: str) -> list[AssistantMessageEvent]:
        text = self._held + delta
        if self._closing[0] in text and (end := re.search(re.escape(self._closing), text, re.I)):
            self._held = ""
            thought = text[: end.start()].rstrip()
            events = [*(self._partial.thinking(thought) if thought else []), *self._partial.end_text()]
            return [*events, *self._speak(text[end.end() :])]
        shown = text[: len(text) - _overlap(text, self._closing)]
        bare = shown.rstrip()
        if len(shown) - len(bare) < _MOST_BLANKS:
            shown = bare
        self._held = text[len(shown) :]
        return self._partial.thinking(shown) if shown else []

    def _speak(self, text: str) -> list[AssistantMessageEvent]:
        """Pass over the blank line after the tag."""
        self.take = self._speak
        if not (text := text.lstrip()):
            return []
        self.take = self._partial.text
        return self._partial.text(text)


def _overlap(text: str, tag: str) -> int:
    """How many of the last characters may begin this tag."""
    end = text[1 - len(tag) :].lower()
    if tag[0] not in end:
        return 0
    return next((size for size in range(len(end), 0, -1) if tag.startswith(end[-size:])), 0)
