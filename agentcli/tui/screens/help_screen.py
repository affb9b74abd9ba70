"""HelpScreen: every action with its present keys, and every command, to read and to search."""

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len
from textual.strip import Strip

from agentcli.runtime.resources.slash_commands import SlashCommand
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.commands.actions import Where
from agentcli.tui.commands.keymap import Keymap, shown_key
from agentcli.tui.editing.query import Query
from agentcli.tui.painting.clean import one_line
from agentcli.tui.painting.list_rows import MARK, NO_MARK, fit, marked, two_columns
from agentcli.tui.screens.list_screen import ListScreen

COMMANDS_HEADING = "Commands"
_UNBOUND = "no key"
_MOST = 34
"""Cells of the first column."""


class _Line(Struct, frozen=True):
    heading: str
    left: str = ""
    """Keys, or a command; empty in the line of the heading itself."""
    right: str = ""
    name: str = ""
    """What an action is called in `[keys]`."""


class HelpScreen(ListScreen[None]):
    """The help.

    Args:
        keymap: whose actions and keys are shown.
        palette: the styles.
        commands: those of templates, skills and extensions; the app's own are in the keymap.
    """

    preview_lines = 2

    def __init__(self, *, keymap: Keymap, palette: Palette, commands: Sequence[SlashCommand] = ()) -> None:
        super().__init__("Keys and commands", keymap=keymap, palette=palette)
        self._all = [*_actions(keymap), *_commands(keymap, commands)]
        widest = max(cell_len(line.left) for line in self._all)
        self._column = min(widest, _MOST) + len(MARK)
        self._lines: list[_Line] = []

    def place_list(self) -> None:
        """Show the lines that fit the search."""
        query = Query(self.line.text)
        self._lines = []
        for line in self._all:
            if query and not query.is_in(f"{line.heading} {line.left} {line.right} {line.name}"):
                continue
            if not self._lines or self._lines[-1].heading != line.heading:
                self._lines.append(_Line(line.heading))
            self._lines.append(line)
        self.list.show(len(self._lines))

    def is_heading(self, number: int) -> bool:
        """Whether a row is a heading."""
        return not self._lines[number].left

    def choose(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def counted(self) -> str:
        """A hint in place of the count."""
        return "names in brackets are for [keys] in the config"

    def preview(self) -> str:
        """The whole line, which may be cut in the list."""
        line = self._lines[self.list.chosen] if self.list.chosen is not None else None
        return f"{line.left}: {line.right}" if line is not None else ""

    def hints(self) -> Sequence[tuple[str, str]]:
        """Keys for the last line."""
        return (("list_up", "up"), ("list_down", "down"), ("list_page_down", "on"), ("list_cancel", "close"))

    def draw_row(self, number: int, width: int, chosen: bool) -> Strip:
        """A row."""
        palette, line = self.palette, self._lines[number]
        text = palette[Tone.TEXT]
        if not line.left:
            return fit([(line.heading, palette[Tone.HEADING])], width, text)
        query = Query(self.line.text)
        left = [(MARK if chosen else NO_MARK, text), *marked(line.left, query.places(line.left), palette[Tone.CODE])]
        right = marked(line.right, query.places(line.right), text)
        if line.name:
            right.append((f"  [{line.name}]", palette[Tone.DIM]))
        return two_columns(left, right, width, text, min(self._column, width * 4 // 10))


def _actions(keymap: Keymap) -> list[_Line]:
    order = list(Where)
    actions = sorted(keymap.actions, key=lambda action: order.index(action.where))
    return [
        _Line(
            action.where.value,
            " ".join(shown_key(key) for key in keymap.keys(action.name)) or _UNBOUND,
            action.title,
            action.name,
        )
        for action in actions
    ]


def _commands(keymap: Keymap, others: Sequence[SlashCommand]) -> list[_Line]:
    own = [
        _Line(COMMANDS_HEADING, f"/{each.name} {each.argument}".strip(), each.title) for each in keymap.slash_commands
    ]
    return own + [
        _Line(
            COMMANDS_HEADING,
            one_line(f"/{each.name} {each.argument_hint}"),
            one_line(f"{each.description} ({each.source})" if each.source else each.description),
        )
        for each in others
    ]
