"""Palette: the styles of the transcript by name, made once from a theme's colours."""

from collections.abc import Mapping
from enum import StrEnum

from rich.style import Style
from textual.color import Color


class Tone(StrEnum):
    """The role of a piece of text. The theme decides its style."""

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


def front(tone: Tone) -> str:
    """The CSS variable with the colour of a tone, if the theme sets it."""
    return f"tone-{tone}"


def back(tone: Tone) -> str:
    """The CSS variable with the background of a tone."""
    return f"tone-{tone}-background"


class Palette:
    """The styles of a theme.

    Args:
        variables: the theme's CSS variables, by name; `front` and `back` name those of the tones.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        colors = {name: Color.parse(variables.get(name, fallback)) for name, fallback in _FALLBACKS.items()}
        background, foreground = colors["background"], colors["foreground"]
        if colors["surface"].a == 0:
            colors["surface"] = background
        # ANSI themes name the terminal's own colours, which cannot be mixed.
        mixes = background.ansi is None and foreground.ansi is None
        colors["dim"] = background.blend(foreground, 0.6) if mixes else foreground
        for name in ("success", "error"):
            color = colors[name]
            colors[f"{name}-faint"] = background.blend(color, 0.12) if mixes and color.ansi is None else background
        if abs(colors["secondary"].brightness - colors["surface"].brightness) < 0.3:
            colors["secondary"] = colors["success"]
        faded = "" if mixes or front(Tone.DIM) in variables else " dim"
        if front(Tone.DIM) in variables:
            colors["dim"] = Color.parse(variables[front(Tone.DIM)])
        self.styles: dict[Tone, Style] = {}
        for tone, (fore, behind, attributes) in _LOOKS.items():
            given = variables.get(front(tone))
            color = colors[fore] if given is None else Color.parse(given)
            ground = Color.parse(variables[back(tone)]) if back(tone) in variables else colors[behind]
            fades = faded if fore == "dim" and given is None else ""
            style = Style(color=color.rich_color, bgcolor=ground.rich_color)
            self.styles[tone] = Style.parse(attributes + fades) + style

    def __getitem__(self, tone: Tone) -> Style:
        return self.styles[tone]


_FALLBACKS = {
    "background": "#121212",
    "foreground": "#e0e0e0",
    "surface": "#1e1e1e",
    "primary": "#0178d4",
    "secondary": "#004578",
    "accent": "#ffa62b",
    "success": "#4ebf71",
    "warning": "#ffa62b",
    "error": "#ba3c5b",
}
_LOOKS = {
    Tone.TEXT: ("foreground", "background", ""),
    Tone.DIM: ("dim", "background", ""),
    Tone.STRONG: ("foreground", "background", "bold"),
    Tone.HEADING: ("primary", "background", "bold"),
    Tone.CODE: ("accent", "background", ""),
    Tone.BLOCK: ("foreground", "surface", ""),
    Tone.LINK: ("primary", "background", "underline"),
    Tone.QUOTE: ("dim", "background", "italic"),
    Tone.USER: ("foreground", "surface", "bold"),
    Tone.THINKING: ("dim", "background", "italic"),
    Tone.OK: ("success", "background", ""),
    Tone.RUNNING: ("warning", "background", ""),
    Tone.ERROR: ("error", "background", ""),
    Tone.WARNING: ("warning", "background", ""),
    Tone.ADDED: ("success", "success-faint", ""),
    Tone.REMOVED: ("error", "error-faint", ""),
    Tone.HUNK: ("primary", "background", ""),
    Tone.KEYWORD: ("primary", "surface", ""),
    Tone.NAME: ("secondary", "surface", ""),
    Tone.STRING: ("success", "surface", ""),
    Tone.NUMBER: ("warning", "surface", ""),
    Tone.COMMENT: ("dim", "surface", "italic"),
}
"""Front, back and attributes of each tone."""
