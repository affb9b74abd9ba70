"""ReasonEditor: stands in for the editor while the user writes why a call is denied. The draft stays as it is."""

from typing import ClassVar

from textual.message import Message

from agentcli.tui.widgets.editor import Editor


class ReasonEditor(Editor):
    """The editor for reasons."""

    DEFAULT_CSS = "ReasonEditor { display: none; }"

    is_prompt: ClassVar[bool] = False

    class Given(Message):
        """A reason that is not blank. The editor is empty again."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    class Left(Message):
        """Esc: back to the choices."""

    def __init__(self) -> None:
        super().__init__()
        self.placeholder = "Why not? Enter denies and tells the model · Esc goes back"

    def action_abort(self) -> None:
        """Ask to go back to the choices."""
        self.post_message(self.Left())

    def _submit(self, follow_up: bool) -> None:
        if reason := self.text.strip():
            self.put("")
            self.post_message(self.Given(reason))
