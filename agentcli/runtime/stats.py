"""RuntimeStats: what a session took so far, and how full the model's window is."""

from msgspec import Struct

from agentcli.sessions.stats import SessionStats


class RuntimeStats(Struct, frozen=True):
    session: SessionStats
    """On every branch: it was paid."""
    context_tokens: int
    """About so many has the next request, without what is said next."""
    context_window: int
    """Tokens that the model can take."""
