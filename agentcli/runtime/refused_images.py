"""Refused images: a server that refuses one image must not refuse every later request of the conversation too.

What was refused is left out of requests from then on, also after a resume; the session keeps it.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from agentcli.agent.hooks import ConvertToLlm
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    ImageContent,
    Message,
    StopReason,
    TextContent,
    ToolResultMessage,
    UserMessage,
    now_ms,
)
from agentcli.agent.streaming import resolved
from agentcli.sessions.entries import CustomEntry
from agentcli.sessions.session import Session

CUSTOM_TYPE = "images_refused"
OMITTED = TextContent("(image left out: the server refused it)")


class RefusedImages:
    """Args:
    session: where it is noted until when images are left out.
    convert: makes what the model reads.
    """

    def __init__(self, session: Session, convert: ConvertToLlm) -> None:
        self._session = session
        self._convert = convert
        self._until = max(
            (
                int(entry.data.get("until", 0))
                for entry in session.storage.find_entries("custom")
                if isinstance(entry, CustomEntry) and entry.custom_type == CUSTOM_TYPE and isinstance(entry.data, dict)
            ),
            default=0,
        )

    async def convert_to_llm(self, messages: list[AgentMessage]) -> list[Message]:
        """The messages that the model reads, without the images that were refused."""
        converted = await resolved(self._convert(messages))
        return [self._without(message) for message in converted] if self._until else converted

    def note(self, answer: AssistantMessage | None, messages: Sequence[AgentMessage]) -> bool:
        """Whether an answer is such a refusal; if it is, the images so far are left out from now on."""
        if answer is None or answer.stop_reason != StopReason.ERROR or answer.error_kind != "bad_request":
            return False
        if not re.search("image", answer.error_message or "", re.I) or not any(map(self._has_image, messages)):
            return False
        self._until = now_ms()
        self._session.append_custom(CUSTOM_TYPE, {"until": self._until})
        return True

    def _has_image(self, message: AgentMessage) -> bool:
        """Whether a message shows an image that has not been refused yet."""
        if not isinstance(message, UserMessage | ToolResultMessage) or message.timestamp <= self._until:
            return False
        return any(isinstance(block, ImageContent) for block in message.content)

    def _without(self, message: Message) -> Message:
        if not isinstance(message, UserMessage | ToolResultMessage) or message.timestamp > self._until:
            return message
        if not any(isinstance(block, ImageContent) for block in message.content):
            return message
        content = [OMITTED if isinstance(block, ImageContent) else block for block in message.content]
        return replace(message, content=content)
