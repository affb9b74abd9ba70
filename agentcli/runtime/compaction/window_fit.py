"""WindowFit: stands between the conversation and the model, and cuts what does not fit into the window."""

from collections.abc import Sequence

from agentcli.agent.emitter import Emit
from agentcli.agent.hooks import ConvertToLlm
from agentcli.agent.messages import AgentMessage, Message
from agentcli.agent.streaming import resolved
from agentcli.runtime.compaction.window import Window
from agentcli.runtime.events import NoticeEvent


class WindowFit:
    """Stands between the conversation and the model: what is sent has its place in the window.

    The session keeps everything. What was cut once is sent in the same way until a compaction takes it away.
    """

    def __init__(self, window: Window, convert: ConvertToLlm, emit: Emit) -> None:
        self._window = window
        self._convert = convert
        self._emit = emit

    async def convert_to_llm(self, messages: list[AgentMessage]) -> list[Message]:
        """The messages that the model reads, cut where they have to be."""
        await self.cut(messages)
        shown = list(map(self._window.shown, messages)) if self._window.replaced else messages
        return await resolved(self._convert(shown))

    async def cut(self, messages: Sequence[AgentMessage]) -> bool:
        """Cut what is too long for the window. Returns whether anything became shorter."""
        window = self._window
        if window.tokens(messages) <= window.room:
            return False
        before = window.estimate(messages)
        from agentcli.runtime.compaction.cutting import shorter_messages  # for those who need it

        made = list(shorter_messages(messages, window))
        if not made:
            return False
        window.replace(made, messages)
        text = f"the context did not fit into the model's window ({window.size:,} tokens): "
        count = f"{len(made)} message{'' if len(made) == 1 else 's'}"
        gain = f"{before - window.estimate(messages):,}"
        await self._emit(NoticeEvent(f"{text}{count} of it had to be cut, by about {gain} tokens"))
        return True
