"""SessionRecorder: writes the agent's messages into the session as they end, in order."""

import asyncio

from agentcli.agent.emitter import Emit
from agentcli.agent.errors import SessionError
from agentcli.agent.events import MessageEndEvent, TurnEndEvent
from agentcli.agent.messages import AgentMessage
from agentcli.agent.threads import to_thread
from agentcli.config.masking import mask_data
from agentcli.runtime.events import EntryAppendedEvent, NoticeEvent
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage


class SessionRecorder:
    """The first listener of an agent: what others hear of has been written, or they have heard that it could not be.

    A turn's end is made safe against a power cut in a thread; `settle` waits for it.
    """

    def __init__(self, session: Session, emit: Emit) -> None:
        self.session = session
        self._emit = emit
        self._syncing: asyncio.Future[None] | None = None
        self._problem: str | None = None
        self._unsaved: list[AgentMessage] = []
        """What could not be written yet; it goes first when there is space again."""
        self._saved: list[str] = []
        self._told = len(session.storage.notices)
        """Of the storage's notices: those that were there from the start are told with the runtime's."""

    @property
    def problem(self) -> str | None:
        """Why something could not be written, as one line; None if everything could."""
        return self._problem if self._unsaved else None

    @property
    def is_complete(self) -> bool:
        """Whether everything that was said could be written."""
        return not self._unsaved

    async def on_event(self, event: object, signal: object) -> None:
        if isinstance(event, MessageEndEvent):
            await self.record(event.message)
        elif isinstance(event, TurnEndEvent):
            await self.settle()
            self._syncing = asyncio.ensure_future(to_thread(self.session.sync))

    async def record(self, *messages: AgentMessage) -> None:
        """Write messages. They are written (or it is known that they cannot be) before this first waits."""
        self._unsaved += messages
        try:
            self.flush()
        except SessionError as error:
            await self._report(error)
        for notice in self.session.storage.notices[self._told :]:
            self._told += 1
            await self._emit(NoticeEvent(notice))
        saved, self._saved = self._saved, []
        for entry_id in saved:
            await self._emit(EntryAppendedEvent(entry_id))

    def flush(self) -> None:
        """Write what could not be written before. Raises SessionError if it still cannot."""
        while self._unsaved:
            self._saved.append(self.session.append_message(mask_data(self._unsaved[0])))
            del self._unsaved[0]
            self._problem = None

    async def settle(self) -> None:
        """Return when the last turn is safe."""
        if self._syncing is None:
            return
        try:
            await self._syncing
        except OSError as error:
            await self._report(SessionError("storage", f"the session is not safe on the disk: {error.strerror}"))
        self._syncing = None

    async def expect_failure(self, problem: str, *, is_told: bool) -> None:
        """A new session will not get its file, as is known before it is tried: that is not told again.

        Args:
            is_told: whether the person has read of it already.
        """
        storage = self.session.storage
        if not isinstance(storage, JsonlSessionStorage) or storage.path.exists():
            return
        if self._problem is None and not is_told:
            await self._emit(NoticeEvent(problem))
        self._problem = self._problem or problem

    async def _report(self, error: SessionError) -> None:
        """Say it once for a row of failures; the conversation goes on in memory."""
        if self._problem is None:
            self._problem = str(error)
            await self._emit(NoticeEvent(self._problem))
