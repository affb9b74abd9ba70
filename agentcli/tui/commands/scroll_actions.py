"""Looking: what keys do that only move or fold the conversation on the screen. They act at once."""

from agentcli.tui.items.item import Fold
from agentcli.tui.widgets.transcript import Transcript


def look(transcript: Transcript, name: str) -> bool:
    """Do an action, if it is one of these."""
    match name:
        case "page_up":
            _page(transcript, -1)
        case "page_down":
            _page(transcript, 1)
        case "to_start":
            transcript.scroll_home(animate=False)
        case "to_end":
            transcript.follow()
        case "previous_prompt":
            transcript.to_prompt(-1)
        case "next_prompt":
            transcript.to_prompt(1)
        case "expand_tools":
            _unfold(transcript, Fold.TOOLS)
        case "expand_thinking":
            _unfold(transcript, Fold.THINKING)
        case _:
            return False
    return True


def _page(transcript: Transcript, direction: int) -> None:
    transcript.scroll_relative(y=direction * max(transcript.size.height - 2, 1), animate=False)


def _unfold(transcript: Transcript, fold: Fold) -> None:
    transcript.unfold(fold, not transcript.is_unfolded(fold))
