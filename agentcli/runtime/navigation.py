"""Navigation: going on from another place of the session's tree, and telling it of the branch that is left."""

from msgspec import Struct

from agentcli.agent.abort import Aborted, AbortSignal
from agentcli.agent.errors import AgentcliError
from agentcli.agent.messages import CustomMessage, Usage, UserMessage, text_of
from agentcli.runtime.compaction.branch_summary import left_entries, summarize_branch
from agentcli.runtime.compaction.summarizer import Summarizer, bill
from agentcli.runtime.events import SpentEvent
from agentcli.sessions.entries import CustomMessageEntry, MessageEntry
from agentcli.sessions.session import Session

BRANCH_SUMMARY = "branch_summary"


class NavigationResult(Struct, frozen=True):
    moved: bool
    """False if it was aborted; then nothing has changed."""
    edit_text: str | None = None
    """What the person said at the place they chose: the conversation goes on before it, and they may say it anew."""


async def move(
    session: Session,
    entry_id: str | None,
    summarizer: Summarizer | None,
    signal: AbortSignal,
    *,
    room: int,
    instructions: str = "",
) -> NavigationResult:
    """Move the leaf to an entry; before it, if it is a message of the user (or an extension's); None is the beginning.

    Args:
        summarizer: tells the new branch what happened on the one that is left; None tells nothing.
        room: tokens that the summary's request may have.

    Raises:
        SessionError: `not_found`, `storage`.
        ProviderError, ConfigError: there is no summary; nothing was moved.
    """
    target_id, edit_text = branch_point(session, entry_id) if entry_id is not None else (None, None)
    if target_id == session.leaf_id:
        return NavigationResult(True, edit_text)
    if summarizer is None:
        session.move_to(target_id)
        return NavigationResult(True, edit_text)
    summarizer.take_spent()
    try:
        left = left_entries(session, target_id)
        summary = await summarize_branch(left, summarizer, signal, room=room, instructions=instructions)
        if signal.aborted:
            raise Aborted
    except Aborted:
        await _report_usage(summarizer, bill(session, summarizer, BRANCH_SUMMARY, "aborted"))
        return NavigationResult(False)
    except AgentcliError as error:
        await _report_usage(summarizer, bill(session, summarizer, BRANCH_SUMMARY, str(error)))
        raise
    usage = summarizer.take_spent()
    if summary is None:
        session.move_to(target_id)
    else:
        session.move_to(target_id, summary=summary.text, details=summary.details, usage=usage)
    await _report_usage(summarizer, usage)
    return NavigationResult(True, edit_text)


async def _report_usage(summarizer: Summarizer, usage: Usage | None) -> None:
    if usage is not None:
        await summarizer.emit(SpentEvent(reason=BRANCH_SUMMARY, usage=usage))


def branch_point(session: Session, entry_id: str) -> tuple[str | None, str | None]:
    """Where the leaf goes for an entry that was chosen, and what the person may say anew there.

    Raises:
        SessionError: `not_found`.
    """
    head = session.storage.require(entry_id)
    match session.get_entry(entry_id):
        case MessageEntry(message=UserMessage() | CustomMessage() as message):
            return head.parent_id, text_of(message.content)
        case CustomMessageEntry(content=content):
            return head.parent_id, text_of(content)
        case _:
            return entry_id, None
