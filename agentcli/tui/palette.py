"""Palette: the styles of the transcript by name, made from the theme's colours once a theme."""

from collections.abc import Mapping
from enum import StrEnum

from rich.style import Style
from textual.color import Color


class Tone(StrEnum):
    """What a piece of text is. The theme decides how that looks."""

    TEXT = "text"
    DIM = "dim"
    STRONG = "strong"
    HEADING = "heading"
    CODE = "code"
    BLOCK = "block"
    LINK = "link"
    QUOTE = "quote"
    USER = "user"
    THINKING = "thinking"
    OK = "ok"
    RUNNING = "running"
    ERROR = "error"
    WARNING = "warning"
    ADDED = "added"
    REMOVED = "removed"
    HUNK = "hunk"
    KEYWORD = "keyword"
    NAME = "name"
    STRING = "string"
    NUMBER = "number"
    COMMENT = "comment"


class Palette:
    """Args:
    variables: the theme's CSS variables, by name.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        def color(name: str, fallback: str) -> Color:
            return Color.parse(variables.get(name, fallback))

        def faint(color: Color) -> Color:
            # ANSI themes name the terminal's own colours, which nobody can mix.
            return color if color.ansi is not None else background.blend(color, 0.12)

        background = color("background", "#121212")
        foreground = color("foreground", "#e0e0e0")
        surface = color("surface", "#1e1e1e")
        error, success, warning = color("error", "#ba3c5b"), color("success", "#4ebf71"), color("warning", "#ffa62b")
        primary, secondary = color("primary", "#0178d4"), color("secondary", "#004578")
        accent = color("accent", "#ffa62b")
        mixes = background.ansi is None and foreground.ansi is None
        dim = background.blend(foreground, 0.6) if mixes else foreground
        faded = "" if mixes else "dim"
        base = Style(color=foreground.rich_color, bgcolor=background.rich_color)

        def on(front: Color, back: Color = background, attributes: str = "") -> Style:
            return Style.parse(attributes) + Style(color=front.rich_color, bgcolor=back.rich_color)

        self.styles: dict[Tone, Style] = {
            Tone.TEXT: base,
            Tone.DIM: on(dim, attributes=faded),
            Tone.STRONG: on(foreground, attributes="bold"),
            Tone.HEADING: on(primary, attributes="bold"),
            Tone.CODE: on(accent),
            Tone.BLOCK: on(foreground, surface),
            Tone.LINK: on(primary, attributes="underline"),
            Tone.QUOTE: on(dim, attributes="italic"),
            Tone.USER: on(foreground, surface, "bold"),
            Tone.THINKING: on(dim, attributes=f"italic {faded}"),
            Tone.OK: on(success),
            Tone.RUNNING: on(warning),
            Tone.ERROR: on(error),
            Tone.WARNING: on(warning),
            Tone.ADDED: on(success, faint(success)),
            Tone.REMOVED: on(error, faint(error)),
            Tone.HUNK: on(primary),
            Tone.KEYWORD: on(primary, surface),
            Tone.NAME: on(secondary if secondary.brightness > 0.4 else success, surface),
            Tone.STRING: on(success, surface),
            Tone.NUMBER: on(warning, surface),
            Tone.COMMENT: on(dim, surface, "italic"),
        }

    def __getitem__(self, tone: Tone) -> Style:
        return self.styles[tone]
