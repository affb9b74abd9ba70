"""FileAccess: what the file tools of one toolset share."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agentcli.agent.abort import Aborted, AbortSignal
from agentcli.agent.threads import to_thread
from agentcli.tools.files.read_tracker import ReadTracker

if TYPE_CHECKING:
    from agentcli.tools.files.file_place import FilePlace

T = TypeVar("T")


class FileAccess:
    """Which files the model knows, where its calls may go, and the one line in which changes are made."""

    def __init__(self) -> None:
        self.known: ReadTracker = ReadTracker()
        self.judged: dict[str, Path | None] = {}
        """By the id of a call, the real path that was judged, None if it can be none. Without a judge it is empty."""
        self._changes = asyncio.Lock()

    def place(self, call_id: str, path: Path) -> "FilePlace":
        """Where a call may act. Raises `ToolError` if that is not where it was judged to act."""
        from agentcli.tools.files.file_place import FilePlace, moved  # for those who have a file tool

        place = FilePlace(path)
        if self.judged.get(call_id, place.real) != place.real:
            raise moved(path)
        return place

    async def change(self, work: Callable[[], T], signal: AbortSignal) -> T:
        """Call `work` in a thread, after the changes before it.

        It holds its place until it has really ended, even if nobody waits for it any more. An abort before it has begun
        raises `Aborted`; after that it is waited for.
        """
        has_begun = False

        async def take_turn() -> T:
            nonlocal has_begun
            async with self._changes:
                has_begun = True
                return await to_thread(work)

        turn = asyncio.ensure_future(take_turn())
        turn.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody may be waiting

        def give_up() -> None:
            if not has_begun:
                turn.cancel()

        remove = signal.on_abort(give_up)
        try:
            return await asyncio.shield(turn)
        except asyncio.CancelledError:
            give_up()
            if signal.aborted and not has_begun:
                raise Aborted from None
            raise
        finally:
            remove()
