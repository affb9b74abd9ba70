"""Spending: tokens and money that the shown session has used so far."""

from msgspec import Struct

from agentcli.agent.events import MessageEndEvent
from agentcli.agent.messages import AssistantMessage, ToolResultMessage, Usage
from agentcli.runtime.events import CompactionEndEvent, SpentEvent
from agentcli.sessions.session import Session


class Spending(Struct):
    """Sums of usage."""

    input_tokens: int = 0
    """Cached tokens included."""
    output_tokens: int = 0
    cost: float = 0.0
    """US dollars."""

    def add(self, usage: Usage) -> None:
        """Add the usage of one request."""
        self.input_tokens += usage.input + usage.cache_read + usage.cache_write
        self.output_tokens += usage.output
        self.cost += usage.cost.total

    def add_event(self, event: object) -> None:
        """Add the usage that an event reports, if it reports any."""
        match event:
            case MessageEndEvent(message=AssistantMessage(usage=usage)):
                self.add(usage)
            case MessageEndEvent(message=ToolResultMessage(usage=Usage() as usage)):
                self.add(usage)
            case CompactionEndEvent(usage=Usage() as usage) | SpentEvent(usage=usage):
                self.add(usage)
            case _:
                pass


def spent_before(session: Session) -> Spending:
    """What a session has used, on all branches. Reads the whole session."""
    stats = session.get_stats()
    sent = stats.input_tokens + stats.cache_read_tokens + stats.cache_write_tokens
    return Spending(sent, stats.output_tokens, stats.cost_total)
