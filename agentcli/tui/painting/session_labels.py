"""How lists show a session: its title and its age."""

from agentcli.sessions.listing import SessionInfo
from agentcli.tui.painting.clean import one_line

_AGES = ((365 * 86_400, "y"), (30 * 86_400, "mo"), (7 * 86_400, "w"), (86_400, "d"), (3_600, "h"), (60, "m"))


def session_title(info: SessionInfo) -> str:
    """Its name, or the first prompt, as one line."""
    return one_line(info.name or info.first_message) or "(empty)"


def age(then: int, now: float) -> str:
    """How long ago something was, short: `5m`, `3h`, `2d`.

    Args:
        then: Unix milliseconds.
        now: Unix seconds.
    """
    seconds = max(now - then / 1000, 0)
    return next((f"{int(seconds // size)}{unit}" for size, unit in _AGES if seconds >= size), "now")
