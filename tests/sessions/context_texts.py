"""The messages of a session's context as texts."""

from agentcli.sessions.message_text import message_text
from agentcli.sessions.session import Session


def context_texts(session: Session) -> list[str]:
    """The text of each message; of a summary, its text."""
    return [message_text(message) for message in session.build_context().messages]
