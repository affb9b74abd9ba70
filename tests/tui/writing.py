"""An app that is nothing but an editor with all its aids, and what the editor said to it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.geometry import Region
from textual.pilot import Pilot
from textual.widgets import Static

from agentcli.tui.app_settings import equip
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.commands.table import ACTIONS
from agentcli.tui.editing.completion import Choice
from agentcli.tui.widgets.editor import Editor

COMMANDS = (
    Choice("model", "Choose the model", "[provider/id[:level]]"),
    Choice("new", "Start a new session"),
    Choice("name", "Name this session", "[name]"),
    Choice("compact", "Summarise", "[instructions]"),
    Choice("skill:deploy", "[@click=app.bell]Deploy[/]"),
)
MODELS = (Choice("openai/gpt-6", "the large one"), Choice("openai/gpt-6-mini"), Choice("anthropic/opus"))


class WritingApp(App[None], inherit_bindings=False):
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        cwd: Path,
        arguments: Mapping[str, Callable[[], Sequence[Choice] | Awaitable[Sequence[Choice]]]] | None = None,
    ) -> None:
        super().__init__()
        self.cwd = cwd
        self.arguments = arguments or {"model": lambda: MODELS}
        self.sent: list[str] = []
        self.told: list[str] = []
        self.asked: list[str] = []
        self.restored = False
        self.is_ready = False

    def compose(self) -> ComposeResult:
        filler = Static("")
        filler.styles.height = "1fr"
        yield filler
        yield Editor(Keymap(actions=ACTIONS))

    async def on_mount(self) -> None:
        self.editor = self.query_one(Editor)
        self.editor.focus()
        self.restored = await equip(self.editor, self.cwd, commands=lambda: COMMANDS, arguments=self.arguments)
        self.is_ready = True

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        self.sent.append(message.text)

    def on_editor_notice(self, message: Editor.Notice) -> None:
        self.told.append(message.text)

    def on_editor_action_asked(self, message: Editor.ActionAsked) -> None:
        self.asked.append(message.name)

    def on_editor_history_asked(self) -> None:
        self.asked.append("history")


def shown_list(pilot: Pilot[Any]) -> list[str]:
    """The lines of the completion list; none if it is closed."""
    editor = pilot.app.query_one(Editor)
    assert editor.completing is not None
    if not editor.completing.is_open:
        return []
    widget = editor.completing._list
    strips = pilot.app.screen._compositor.render_strips()
    return [strips[y].text.strip() for y in range(widget.region.y, widget.region.bottom)]


def marked_letters(pilot: Pilot[Any]) -> list[str]:
    """What is underlined in each line of the completion list."""
    editor = pilot.app.query_one(Editor)
    assert editor.completing is not None
    region = editor.completing._list.region if editor.completing.is_open else Region()
    lines = pilot.app.screen._compositor.render_strips()[region.y : region.bottom]
    return ["".join(text for text, style, _ in line if style is not None and style.underline) for line in lines]
