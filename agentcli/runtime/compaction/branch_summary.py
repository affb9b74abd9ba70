"""Branch summary: what happened on a branch that the person leaves, told to the branch they go to."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import asdict

from agentcli.agent.abort import AbortSignal
from agentcli.agent.messages import AgentMessage
from agentcli.runtime.compaction.summarizer import Summarizer
from agentcli.runtime.compaction.summary_prompts import BRANCH
from agentcli.sessions.compaction.files import FileLists, files_of, with_file_lists
from agentcli.sessions.compaction.token_estimate import estimate_all
from agentcli.sessions.context import SessionContextBuildOptions, entry_to_messages
from agentcli.sessions.entries import Entry
from agentcli.sessions.session import Session


class BranchSummary(Struct, frozen=True):
    text: str
    details: dict[str, list[str]]


def left_entries(session: Session, target_id: str | None) -> list[Entry]:
    """The entries between the leaf and the place where its branch leaves that of the target, oldest first."""
    there = {head.id for head in session.storage.get_path(target_id)}
    path = session.storage.get_path(session.leaf_id)
    return list(session.storage.get_some([head.id for head in path if head.id not in there]))


async def summarize_branch(
    entries: Sequence[Entry], summarizer: Summarizer, signal: AbortSignal, *, room: int, instructions: str = ""
) -> BranchSummary | None:
    """The summary of a branch; None if nothing was said on it. Of one that is too long the newest part counts.

    Args:
        room: tokens of conversation that fit into the request.

    Raises:
        ProviderError, ConfigError: there is no summary.
        Aborted: the signal fired.
    """
    options = SessionContextBuildOptions()
    messages = [message for entry in entries for message in entry_to_messages(entry, 0, [], options)]
    newest = _newest(messages, room)
    if not newest:
        return None
    details = [getattr(entry, "details", None) for entry in entries if getattr(entry, "summary", None) is not None]
    files: FileLists = files_of(messages, details)
    summary = await summarizer.summarize(newest, BRANCH, signal, room=room, instructions=instructions)
    return BranchSummary(with_file_lists(summary, files), asdict(files))


def _newest(messages: Sequence[AgentMessage], room: int) -> list[AgentMessage]:
    kept: list[AgentMessage] = []
    for message in reversed(messages):
        room -= estimate_all([message])
        if room < 0 and kept:
            break
        kept.append(message)
    return kept[::-1]
