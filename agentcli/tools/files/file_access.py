"""FileAccess: what the file tools of one toolset share."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agentcli.agent.abort import Aborted, AbortSignal
from agentcli.tools.files.read_tracker import ReadTracker

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from agentcli.tools.files.file_place import FilePlace

T = TypeVar("T")


class FileAccess:
    """Which files the model knows, where its calls may go, and the one line in which changes are made."""

    def __init__(self) -> None:
        self.known: ReadTracker = ReadTracker()
        self.judged: dict[str, Path | None] = {}
        """By the id of a call, the real path that was judged, None if it can be none. Without a judge it is empty."""
        self._changes: ThreadPoolExecutor | None = None

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
        if self._changes is None:
            from concurrent.futures import ThreadPoolExecutor  # 1 ms, and the first to need a thread pays it anyway

            self._changes = ThreadPoolExecutor(1, "file-changes")
        running = self._changes.submit(work)

        def give_up() -> None:
            running.cancel()

        remove = signal.on_abort(give_up)
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            if running.cancelled() and signal.aborted:
                raise Aborted from None
            raise
        finally:
            remove()
