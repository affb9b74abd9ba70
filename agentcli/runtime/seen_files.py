"""seen_files: which files a conversation has shown to the model, and when.

It is asked when `write` meets a file that it does not know: that is how files that were read before a resume, or
attached by the user, count as read. What a compaction has left out
of the conversation does not count: the model does not see it any more.
"""

import re
from collections.abc import Iterator, Sequence

from agentcli.agent.messages import AgentMessage, ToolResultMessage, UserMessage, text_of

_FILE_TOOLS = frozenset({"read", "write", "edit"})
_ATTACHED = re.compile(r'^<file name="(.+?)">', re.M)


def seen_files(messages: Sequence[AgentMessage]) -> Iterator[tuple[str, int]]:
    """Paths, and when they were seen (Unix milliseconds). A path comes as often as it was seen."""
    for message in messages:
        match message:
            case ToolResultMessage(tool_name=name, is_error=False, details=dict() as details) if name in _FILE_TOOLS:
                if isinstance(path := details.get("path"), str):
                    yield path, message.timestamp
            case UserMessage():
                for found in _ATTACHED.finditer(text_of(message.content)):
                    yield found[1], message.timestamp
            case _:
                pass
