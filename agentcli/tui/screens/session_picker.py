"""SessionPicker: the sessions of this directory or of all, to resume, to search, to rename and to delete.

The list is read, and conversations are searched, in a thread; a newer search ends an older one after a few sessions.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec
from msgspec import Struct
from textual.strip import Strip

from agentcli.agent.errors import AgentcliError, UsageError
from agentcli.agent.threads import to_thread
from agentcli.sessions.listing import SessionInfo
from agentcli.sessions.search import Match, SearchHit, parse_query
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.list_rows import MARK, NO_MARK, marked, two_columns
from agentcli.tui.painting.rows import Run
from agentcli.tui.painting.session_labels import age, session_title
from agentcli.tui.screens.list_screen import ListScreen
from agentcli.tui.status import folder_name

OPEN = "● "
SEARCH_AFTER_S = 0.3
"""Seconds without a key before the conversations are searched."""
SEARCHED_AT_ONCE = 20
"""Sessions between two checks whether the search is still wanted."""


class _Found(Struct, frozen=True):
    info: SessionInfo
    label: str
    places: frozenset[int] = frozenset()
    """In the label, of what was found."""
    excerpt: str = ""
    """Of the conversation, when that was searched."""
    span: tuple[int, int] = (0, 0)
    """In the excerpt."""


class SessionPicker(ListScreen[Path]):
    """A list of sessions. The result is the chosen session's file.

    Any `AgentcliError` or `OSError` that a callable raises is shown.

    Args:
        load: the sessions of this directory, or of all (True), newest first. Called in a thread.
        search: those of some sessions whose conversations contain a text. Called in a thread, for a few at a time.
        rename: names a session; an empty name removes its name.
        delete: deletes a session. Returns whether it went to the trash.
        folder: this directory.
        keymap: which key does what.
        palette: the styles.
        open_path: the file of the open session, which cannot be deleted.
        all_folders: whether those of all directories are shown at first.
    """

    PLACES: ClassVar[tuple[Where, ...]] = (Where.SESSIONS, Where.LIST)

    def __init__(
        self,
        *,
        load: Callable[[bool], list[SessionInfo]],
        search: Callable[[Sequence[SessionInfo], str], list[SearchHit]],
        rename: Callable[[SessionInfo, str], Awaitable[None]],
        delete: Callable[[SessionInfo], Awaitable[bool]],
        folder: Path,
        keymap: Keymap,
        palette: Palette,
        open_path: Path | None = None,
        all_folders: bool = False,
    ) -> None:
        super().__init__("Sessions", keymap=keymap, palette=palette)
        self._load, self._search, self._rename, self._delete = load, search, rename, delete
        self.folder = folder
        self.open_path = open_path
        self.all_folders = all_folders
        self._infos: list[SessionInfo] | None = None
        """None while they are read."""
        self._found: list[_Found] = []
        self._query = ""
        """The query of `_found`."""
        self._to_delete: Path | None = None
        """Deleted if the next key is the same again."""
        self._confirmed: Path | None = None
        self._searching = ""
        """How far a search through the conversations is."""
        self._failed = False

    def on_mount(self) -> None:
        """Start reading the list."""
        self._read()

    @property
    def chosen(self) -> SessionInfo | None:
        """The session that Enter would choose."""
        number = self.list.chosen
        return self._found[number].info if number is not None and number < len(self._found) else None

    # Reading and searching

    def _read(self) -> None:
        self._infos, self._failed = None, False
        self.heading = "Sessions of all folders" if self.all_folders else f"Sessions in {folder_name(self.folder)}"
        self.place_list()
        self.changed()
        self.run_worker(self._read_list(self.all_folders), group="read", exclusive=True)

    async def _read_list(self, all_folders: bool) -> None:
        try:
            self._infos = await to_thread(self._load, all_folders)
        except (AgentcliError, OSError) as error:
            self._infos, self._failed = [], True
            self.show_notice(str(error), Tone.ERROR)
        self.place_list()
        self.changed()

    def place_list(self) -> None:
        """Show the sessions that fit the line; search the conversations if there are none."""
        self.workers.cancel_group(self, "search")
        self._searching = ""
        query = self.line.text.strip()
        try:
            matches = parse_query(query) if query else []
        except UsageError as error:
            self.show_notice(str(error))
            return
        before = self.chosen.path if self.chosen is not None and query == self._query else None
        infos, self._query = self._infos or [], query
        found = (_look(info, matches) for info in infos)
        self._found = sorted((each for each in found if each is not None), key=lambda each: not each.places)
        paths = [each.info.path for each in self._found]
        self.list.show(len(paths), paths.index(before) if before in paths else self.list.chosen if before else 0)
        if query and infos and not self._found:
            self._searching = "…"
            self.run_worker(self._search_all(infos, query), group="search", exclusive=True)

    async def _search_all(self, infos: list[SessionInfo], query: str) -> None:
        await asyncio.sleep(SEARCH_AFTER_S)
        for start in range(0, len(infos), SEARCHED_AT_ONCE):
            self._searching = f"{start} of {len(infos)} searched …"
            self.changed()
            try:
                hits = await to_thread(self._search, infos[start : start + SEARCHED_AT_ONCE], query)
            except (AgentcliError, OSError) as error:
                self.show_notice(str(error), Tone.ERROR)
                break
            self._found += [
                _Found(hit.info, session_title(hit.info), frozenset(), hit.excerpt, hit.span) for hit in hits
            ]
            self.list.show(len(self._found), self.list.chosen)
        self._searching = ""
        self.changed()

    # Keys

    def clear_notice(self) -> None:
        """Remove the notice, and the question whether to delete."""
        super().clear_notice()
        self._confirmed, self._to_delete = self._to_delete, None

    def handle_action(self, name: str) -> None:
        """Change the scope, rename or delete."""
        if name == "sessions_scope":
            self.all_folders = not self.all_folders
            self._read()
        elif (info := self.chosen) is None:
            return
        elif name == "sessions_rename":
            self.ask("Name", info.name or "", lambda text: self._work(self._rename_now(info, text)))
        elif name == "sessions_delete" and info.path == self.open_path:
            self.show_notice("this session is open, so it cannot be deleted")
        elif name == "sessions_delete" and info.path == self._confirmed:
            self._work(self._delete_now(info))
        elif name == "sessions_delete":
            self._to_delete = info.path
            key = self.keymap.shown(name)
            self.show_notice(f"delete “{session_title(info)}”? {key} again deletes it, any other key keeps it")

    def choose(self) -> None:
        """Close with the chosen session's file."""
        if (info := self.chosen) is not None:
            self.dismiss(info.path)

    def _work(self, work: Awaitable[tuple[str, Tone]]) -> None:
        """Do something to a session. It is done to its end even when the screen is closed meanwhile."""
        self.app.run_worker(self._told(work), group="sessions")

    async def _told(self, work: Awaitable[tuple[str, Tone]]) -> None:
        try:
            text, tone = await work
        except (AgentcliError, OSError) as error:
            text, tone = str(error), Tone.ERROR
        if self.is_attached:
            self.place_list()
            self.changed()
            self.show_notice(text, tone)
        elif tone is Tone.ERROR:
            self.app.notify(one_line(text), severity="error", markup=False)

    async def _rename_now(self, info: SessionInfo, name: str) -> tuple[str, Tone]:
        await self._rename(info, name)
        renamed = msgspec.structs.replace(info, name=name or None)
        self._infos = [renamed if each.path == info.path else each for each in self._infos or []]
        return f"it is called “{session_title(renamed)}” now", Tone.DIM

    async def _delete_now(self, info: SessionInfo) -> tuple[str, Tone]:
        trashed = await self._delete(info)
        self._infos = [each for each in self._infos or [] if each.path != info.path]
        return f"“{session_title(info)}” was {'moved to the trash' if trashed else 'deleted'}", Tone.DIM

    # Painting

    def counted(self) -> str:
        """How many sessions are shown, of how many."""
        if self._infos is None:
            return "…"
        count = len(self._infos)
        return self._searching or (f"{len(self._found)} of {count}" if self.line.text else str(count))

    def hints(self) -> Sequence[tuple[str, str]]:
        """Keys for the last line."""
        return (
            ("list_choose", "go on with it"),
            ("sessions_scope", "this folder" if self.all_folders else "all folders"),
            ("sessions_rename", "rename"),
            ("sessions_delete", "delete"),
            ("list_cancel", "close"),
        )

    def nothing(self) -> str:
        """Why nothing is listed."""
        if self._infos is None:
            return "…"
        if self._failed:
            return "the list cannot be read"
        if self._infos:
            return "the conversations are searched …" if self._searching else "nothing fits, in no conversation either"
        more = "" if self.all_folders else f" in this folder; {self.keymap.shown('sessions_scope')} shows all folders"
        return f"there is no session{more}"

    def draw_row(self, number: int, width: int, chosen: bool) -> Strip:
        """A row."""
        palette, found = self.palette, self._found[number]
        info = found.info
        text, dim = palette[Tone.TEXT], palette[Tone.DIM]
        mark = OPEN if info.path == self.open_path else NO_MARK
        left: list[Run] = [((MARK if chosen else NO_MARK) + mark, text)]
        left += marked(found.label, found.places, palette[Tone.STRONG] if info.name else text)
        right: list[Run] = [(age(info.modified, time.time()), dim)]
        if found.excerpt:
            right = marked(found.excerpt, range(*found.span), dim)
        elif self.all_folders:
            right.insert(0, (one_line(folder_name(Path(info.cwd))) + "  ", dim))
        return two_columns(left, right, width, text)


def _look(info: SessionInfo, matches: list[Match]) -> _Found | None:
    """The session, if the whole query is in its name, first message, id or directory."""
    label = session_title(info)
    texts = (label, info.name or "", info.first_message, info.id, info.cwd)
    if not all(any(match(text) for text in texts) for match in matches):
        return None
    spans = [span for match in matches if (span := match(label))]
    return _Found(info, label, frozenset(place for span in spans for place in range(*span)))
