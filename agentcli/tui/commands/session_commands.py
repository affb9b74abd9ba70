"""Session commands: starting, opening, forking, naming and exporting sessions, and moving in a session's tree."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from agentcli.agent.errors import UsageError
from agentcli.agent.messages import UserMessage, text_of
from agentcli.agent.threads import to_thread
from agentcli.config.paths import sessions_folder
from agentcli.runtime.runtime import Runtime
from agentcli.runtime.switching import clone_session, fork_session, new_session, switch_session
from agentcli.sessions.entries import MessageEntry
from agentcli.sessions.export.export import export_session
from agentcli.sessions.listing import SessionInfo
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.stats import stats_lines
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.tui.app_settings import apply_settings, equip_editor
from agentcli.tui.commands.command_context import CommandContext
from agentcli.tui.screens.picker import PickerRow

FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".jsonl": "jsonl", ".json": "json"}


class SessionCommands(CommandContext):
    """A part of `Commands`."""

    async def new(self, argument: str) -> None:
        await self._switch(new_session)

    async def clone(self, argument: str) -> None:
        await self._switch(clone_session)
        self.flash("this is the copy; /resume goes back to the other one")

    async def resume(self, argument: str) -> None:
        from agentcli.sessions.search import search_sessions
        from agentcli.tui.screens.session_picker import SessionPicker

        reference = argument
        if not reference:
            picker = SessionPicker(
                load=self._list,
                search=search_sessions,
                rename=self._rename,
                delete=self._delete,
                folder=self.chat.runtime.cwd,
                keymap=self.app.keymap,
                palette=self.app.palette,
                open_path=self._path,
            )
            path = await self.ask(picker)
            reference = str(path) if path else ""
        if reference:
            await self._switch(lambda runtime: switch_session(runtime, reference))

    async def fork(self, argument: str) -> None:
        rows = [
            PickerRow(entry.id, text)
            for entry in reversed(self.chat.runtime.session.get_branch())
            if isinstance(entry, MessageEntry)
            and isinstance(entry.message, UserMessage)
            and (text := text_of(entry.message.content))
        ]
        if not rows:
            raise UsageError("there is no prompt to fork from yet", hint="/clone copies a whole session")
        chosen = await self.pick("Fork before which prompt?", rows)
        if chosen:
            await self._fork(chosen, "before")

    async def tree(self, argument: str) -> None:
        from agentcli.sessions.tree import tree_lines
        from agentcli.tui.screens.tree_screen import TreeDeed, TreeScreen

        runtime = self.chat.runtime
        storage = runtime.session.storage
        screen = TreeScreen(
            list(tree_lines(storage, everything=True)),
            storage.get_some,
            labels=storage.labels,
            label=runtime.label,
            keymap=self.app.keymap,
            palette=self.app.palette,
            title=runtime.session.name or "Tree",
        )
        choice = await self.ask(screen)
        if choice is None:
            return
        if choice.what is TreeDeed.FORK:
            entry = runtime.session.get_entry(choice.entry_id)
            said = isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
            await self._fork(choice.entry_id, "before" if said else "at")
            return
        self.app.give_back(self.chat.stop())
        summarize = choice.what is TreeDeed.SUMMARIZE
        moved = await runtime.go_to(choice.entry_id, summarize=summarize, instructions=choice.instructions)
        if moved.moved and moved.edit_text:
            self.app.give_back([moved.edit_text])

    async def name(self, argument: str) -> None:
        session = self.chat.runtime.session
        if argument:
            self.chat.runtime.name_session(argument)
            self.flash(f"named: {session.name}")
        else:
            self.app.editor.put(f"/name {session.name or ''}")

    async def session(self, argument: str) -> None:
        session = self.chat.runtime.session
        file = self._path or "kept in memory"
        self.tell("\n".join([*stats_lines(session, session.get_stats()), f"file      {file}"]))

    async def export(self, argument: str) -> None:
        session = self.chat.runtime.session
        name = re.sub(r"[^\w.-]+", "-", session.name or "").strip("-") or session.id[-12:]
        path = self.chat.runtime.cwd / Path(argument.strip("\"'") or f"{name}.html").expanduser()
        format = FORMATS.get(path.suffix.lower())
        if format is None:
            raise UsageError(f"no format has the ending {path.suffix!r}", hint=f"one of {', '.join(FORMATS)}")
        if path.exists():
            raise UsageError(f"{path} exists already", hint="name another file: /export FILE")
        text = export_session(session, format)
        try:
            await to_thread(_write, path, text)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}", hint="name another file: /export FILE") from None
        self.tell(f"exported to {path}")

    async def _fork(self, entry_id: str, position: str) -> None:
        text: str | None = None

        async def fork(runtime: Runtime) -> Runtime:
            nonlocal text
            forked, text = await fork_session(runtime, entry_id, position)
            return forked

        await self._switch(fork)
        self.app.give_back([text or ""])

    async def _switch(self, open: Callable[[Runtime], Awaitable[Runtime]]) -> None:
        """Go on with the session that `open` makes of this one. What was queued comes back into the editor."""
        self.app.give_back(self.chat.stop())
        runtime = await open(self.chat.runtime)
        before = self.chat.runtime
        if runtime is before:
            return
        self.chat.use(runtime)
        if runtime.cwd != before.cwd:
            self.tell_all(apply_settings(self.app, self.chat))
            await equip_editor(self.app, self.chat)
        await self.chat.count_spending()

    @property
    def _path(self) -> Path | None:
        storage = self.chat.runtime.session.storage
        return storage.path if isinstance(storage, JsonlSessionStorage) else None

    def _list(self, all_folders: bool) -> list[SessionInfo]:
        return _repo().list(None if all_folders else self.chat.runtime.cwd)

    async def _rename(self, info: SessionInfo, name: str) -> None:
        if info.path == self._path:
            self.chat.runtime.name_session(name)
            return
        session = _repo().open(info.path)
        try:
            session.append_session_info(name)
            session.sync()
        finally:
            session.close()

    async def _delete(self, info: SessionInfo) -> bool:
        return _repo().delete(info.path)


def _repo() -> JsonlSessionRepo:
    return JsonlSessionRepo(sessions_folder())


def _write(path: Path, text: str) -> None:
    # Not over a file that is there, nor through a link.
    with path.open("x", encoding="utf-8", newline="") as file:
        file.write(text)
    path.chmod(0o600)
