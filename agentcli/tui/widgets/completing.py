"""Completing: connects the editor with the completer and the list that shows suggestions.

Typing never waits for a search: a result for something else than what is written by then is dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec.structs import replace
from textual.widgets import TextArea
from textual.worker import Worker

from agentcli.agent.errors import AgentcliError
from agentcli.tui.editing.completion import (
    RELOAD_S,
    Completer,
    Kind,
    Suggestion,
    Written,
    common_start,
    written_path,
)
from agentcli.tui.editing.pastes import without_marks
from agentcli.tui.widgets.completion_list import CompletionList

TAB_WAIT_S = 1.0
"""Seconds that Tab waits for the directory to be read; keys pressed meanwhile are handled after it."""


class Completing:
    """Completion in an editor.

    Args:
        editor: where the user writes. The list is mounted above it.
        completer: finds the suggestions.
        submit: sends the draft.
        report: shows a problem, once.
    """

    def __init__(
        self, editor: TextArea, completer: Completer, *, submit: Callable[[], None], report: Callable[[str], None]
    ) -> None:
        self._editor, self._submit, self._report = editor, submit, report
        self.completer = completer
        """May be replaced by that of another directory."""
        self._list = CompletionList(lambda: self.accept())
        self._asked: Written | None = None
        """The part that is being completed."""
        self._dismissed: tuple[Kind, int] | None = None
        """Where the user has closed the list."""
        self._worker: Worker[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the list is shown."""
        return self._list.is_open

    async def begin(self) -> None:
        """Mount the list."""
        await self._editor.screen.mount(self._list, before=self._editor)

    def end(self) -> None:
        """Stop completing."""
        self._asked = None
        self.completer.close()

    def typed(self) -> None:
        """Update the list after the user changed the draft or moved the cursor."""
        follows_path = self.is_open and self._asked is not None and self._asked.kind is Kind.PATH
        query = self._query(tab=follows_path)
        if query is None or (query.kind, query.start) == self._dismissed or self._editor.has_class("-asked"):
            self._asked = None
            self._list.show(())
            if query is None:
                self._dismissed = None
            return
        self._asked = query
        if self._worker is None or self._worker.is_finished:
            self._show(query, self._find(query))

    def close(self) -> None:
        """Close the list until something else is written."""
        query = self._asked
        self._dismissed = (query.kind, query.start) if query else None
        self._asked = None
        self._list.show(())

    def act(self, name: str) -> None:
        """Do what a key means while the list is open."""
        match name:
            case "completion_next":
                self._list.move(1)
            case "completion_previous":
                self._list.move(-1)
            case "completion_accept":
                self.accept()
            case "completion_submit":
                if self._accept_line():
                    self._submit()
            case "completion_close":
                self.close()
            case _:
                raise ValueError(f"no key of the completion list does {name}")

    def accept(self) -> None:
        """Insert the chosen suggestion."""
        if (query := self._query(tab=True)) is not None:
            self._insert(query, self._list.chosen)

    def _accept_line(self) -> bool:
        """Insert the chosen suggestion by a key that sends.

        Returns:
            Whether the draft may be sent: it is a whole command, or there was nothing to insert.
        """
        query, chosen = self._query(tab=True), self._list.chosen
        if query is None or self._asked is None:
            return True
        query = replace(query, kind=self._asked.kind)
        if query.kind in (Kind.COMMAND, Kind.ARGUMENT):
            self._put(query.start, query.end, chosen.text)
            self.close()
            return True
        written = self._editor.document.get_line(self._editor.cursor_location[0])[query.start : query.end]
        if written == chosen.text:
            self.close()
            return True
        self._insert(query, chosen)
        return False

    async def tab(self) -> None:
        """Complete as far as all suggestions agree, else show them."""
        query = self._query(tab=True)
        found = await self._now(query)
        if query is not None and query.kind is Kind.COMMAND and not found:
            query = self._path_query(query)
            found = await self._now(query)
        if query is None or not found:
            return
        self._dismissed = None
        if len(found) == 1:
            self._insert(query, found[0])
        elif query.kind is Kind.PATH and (common := common_start(found, query)):
            text = written_path(common, query.kind, in_shell=query.in_shell)
            self._put(query.start, query.end, text, back=int(text[-1] in "\"'"))
        else:
            self._asked = query
            self._list.show(found)

    # Internals

    def _query(self, *, tab: bool) -> Written | None:
        row, column = self._editor.cursor_location
        if not self._editor.selection.is_empty:
            return None
        return self.completer.written_at(self._editor.document.get_line(row), column, first=row == 0, tab=tab)

    def _path_query(self, query: Written) -> Written:
        return Written(Kind.PATH, f"/{query.text}", query.start, query.start + 1 + len(query.text))

    async def _now(self, query: Written | None) -> list[Suggestion]:
        if query is None:
            return []
        found = self._find(query)
        if isinstance(found, list):
            return found
        try:
            return await asyncio.wait_for(found, TAB_WAIT_S)
        except TimeoutError:
            return []  # a directory that does not respond
        except AgentcliError as error:
            self._report(str(error))
            return []

    def _find(self, query: Written) -> list[Suggestion] | Awaitable[list[Suggestion]]:
        try:
            return self.completer.find(query)
        except AgentcliError as error:
            self._report(str(error))
            return []

    def _show(self, query: Written, found: list[Suggestion] | Awaitable[list[Suggestion]]) -> None:
        if isinstance(found, list):
            self._list.show(found)
        else:
            self._worker = self._editor.run_worker(self._follow(query, found), name="complete")

    async def _follow(self, query: Written, found: Awaitable[list[Suggestion]]) -> None:
        """Show what is found, search again for what was written meanwhile, until nothing more is to come."""
        while True:
            try:
                suggestions = await found
            except AgentcliError as error:
                self._report(str(error))
                suggestions = []
            if query == self._asked:
                self._list.show(suggestions)
                self._report(self.completer.files.problem)
                if query.kind is not Kind.MENTION or not self.completer.files.is_loading:
                    return
                await self.completer.files.wait(RELOAD_S)
            if self._asked is None:
                return
            query = self._asked
            again = self._find(query)
            if isinstance(again, list):
                self._list.show(again)
                return
            found = again

    def _put(self, start: int, end: int, text: str, *, back: int = 0, blank: bool = False) -> None:
        """Replace a part of the cursor's line.

        Args:
            start: first column of the part.
            end: column after the part.
            text: the replacement.
            back: how many characters before its end the cursor is put.
            blank: have a space after it, and the cursor behind that.
        """
        editor = self._editor
        row = editor.cursor_location[0]
        has_blank = editor.document.get_line(row)[end : end + 1].isspace()
        text = without_marks(text) + (" " if blank and not has_blank else "")
        editor.replace(text, (row, start), (row, end), maintain_selection_offset=False)
        end_row, end_column = editor.cursor_location
        editor.move_cursor((end_row, end_column - back + (blank and has_blank)))

    def _insert(self, query: Written, suggestion: Suggestion) -> None:
        is_directory = suggestion.is_directory
        self._dismissed = None
        self._put(query.start, query.end, suggestion.text, back=suggestion.back, blank=not is_directory)
        if not is_directory and (self._asked is None or self._asked.kind is query.kind):
            self.close()
