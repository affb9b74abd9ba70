"""Status: what the footer and the terminal's title show of a session, as plain text."""

from pathlib import Path

from msgspec import Struct


class Status(Struct, frozen=True, kw_only=True):
    """The figures of the shown session."""

    folder: str = ""
    branch: str = ""
    session: str = ""
    """The session's name."""
    model: str = ""
    """With the thinking level."""
    activity: str = ""
    """What the agent is doing."""
    context_tokens: int = 0
    context_window: int = 0
    input_tokens: int = 0
    """Sent, cached tokens included; of the whole session."""
    output_tokens: int = 0
    cost: float = 0.0
    """US dollars."""

    @property
    def place(self) -> str:
        """The directory, with the branch."""
        return f"{self.folder} ({self.branch})" if self.branch else self.folder

    @property
    def context(self) -> str:
        """How full the model's context window is."""
        if not self.context_tokens or self.context_window <= 0:
            return ""
        return f"{self.fullness:.0%} of {short(self.context_window)}"

    @property
    def fullness(self) -> float:
        """The used part of the context window, 0 to 1."""
        return self.context_tokens / self.context_window if self.context_window > 0 else 0.0

    @property
    def tokens(self) -> str:
        """What the session has used so far."""
        if not self.input_tokens and not self.output_tokens:
            return ""
        tokens = f"↑{short(self.input_tokens)} ↓{short(self.output_tokens)}"
        return f"{tokens} {dollars(self.cost)}" if self.cost > 0 else tokens


def short(tokens: int) -> str:
    """A number of tokens in at most four digits or so: `950`, `12.3k`, `1M`."""
    if tokens < 1_000:
        return str(tokens)
    for size, letter in ((1_000, "k"), (1_000_000, "M")):
        if tokens < size * 999.5:
            count = tokens / size
            return f"{count:.0f}{letter}" if count >= 99.5 or count == int(count) else f"{count:.1f}{letter}"
    return f"{tokens / 1_000_000_000:.1f}G"


def dollars(cost: float) -> str:
    """An amount of money in US dollars."""
    return f"${cost:.2f}" if cost >= 0.1 else f"${cost:.4f}" if cost >= 0.0001 else "<$0.0001"


def folder_name(folder: Path) -> str:
    """The directory, with `~` for the home."""
    home = Path.home()
    if folder == home:
        return "~"
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
