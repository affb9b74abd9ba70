"""Themes: files with colours, shipped and the user's own, by the names of the files.

Names are cheap; a file is read when its theme is shown. `[colors]` needs six colours; they make the others. A colour is
`#rrggbb`, one of the terminal's (`ansi_red`, `ansi_default`), or a name from `[vars]`.
"""

import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict
from textual import theme as textual_theme

import agentcli
from agentcli.agent.errors import ConfigError
from agentcli.config.paths import home
from agentcli.config.toml_file import Refuse, convert, line_of, parse_toml
from agentcli.files.reading import read_bytes
from agentcli.tui.colors.palette import Tone, back, front
from agentcli.tui.did_you_mean import did_you_mean

SUFFIX = ".toml"
MAX_BYTES = 1 << 18
_HEX = re.compile(r"#(?:[\da-fA-F]{3}){1,2}")
_EIGHT = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
ANSI_COLORS = ("ansi_default", *(f"ansi_{name}" for name in _EIGHT), *(f"ansi_bright_{name}" for name in _EIGHT))


class Colors(Struct, frozen=True, kw_only=True):
    """`[colors]`."""

    background: str
    foreground: str
    primary: str
    """Headings, links, keywords, and the frame of what has the focus."""
    success: str
    warning: str
    error: str
    secondary: str | None = None
    """Names in code."""
    accent: str | None = None
    """Code in a line of text."""
    surface: str | None = None
    """Behind blocks of code and the user's prompts."""
    border: str | None = None
    """The frame of what has no focus."""
    selection: str | None = None
    """Behind selected text."""
    dim: str | None = None
    strong: str | None = None
    heading: str | None = None
    code: str | None = None
    block: str | None = None
    link: str | None = None
    quote: str | None = None
    user: str | None = None
    user_background: str | None = None
    thinking: str | None = None
    running: str | None = None
    added: str | None = None
    added_background: str | None = None
    removed: str | None = None
    removed_background: str | None = None
    hunk: str | None = None
    keyword: str | None = None
    name: str | None = None
    string: str | None = None
    number: str | None = None
    comment: str | None = None


_WITHOUT_COLOR = Colors(
    **dict.fromkeys(("background", "foreground", "primary", "success", "warning", "error"), "ansi_default")
)


class _File(Struct, frozen=True, kw_only=True):
    """A theme's file."""

    name: str = ""
    dark: bool
    vars: dict[str, str] = {}
    colors: Colors


class Theme(Struct, frozen=True):
    """A theme that was read."""

    name: str
    """As the settings call it: the name of its file."""
    label: str
    """As people read it."""
    path: Path
    is_dark: bool
    """Whether it is for dark terminals."""
    colors: Colors
    """`#rrggbb` and names of the terminal's colours."""
    warnings: list[str] = field(default_factory=list)
    """What was odd about the file, a line each: `FILE:LINE: …`."""

    @property
    def is_ansi(self) -> bool:
        """Whether some of its colours are the terminal's own, which cannot be mixed with others."""
        return any(color is not None and color.startswith("ansi_") for color in asdict(self.colors).values())

    def to_textual(self, name: str, *, without_color: bool = False) -> textual_theme.Theme:
        """The theme as Textual knows it.

        Args:
            name: for Textual.
            without_color: use the terminal's two colours in place of all, with attributes where colours alone matter.
        """
        colors = _WITHOUT_COLOR if without_color else self.colors
        is_ansi = self.is_ansi or without_color
        return textual_theme.Theme(
            name=name,
            primary=colors.primary,
            secondary=colors.secondary,
            warning=colors.warning,
            error=colors.error,
            success=colors.success,
            accent=colors.accent,
            foreground=colors.foreground,
            background=colors.background,
            surface=colors.surface or colors.background,
            dark=self.is_dark,
            ansi=is_ansi,
            variables=_variables(colors) | (_ansi_variables(colors) if is_ansi else {}),
        )


def available() -> dict[str, Path]:
    """The files of all themes by name: the shipped ones, and the user's, which take precedence.

    Raises:
        ConfigError: the user's directory cannot be read.
    """
    return dict(sorted((_files(shipped_folder()) | _files(home() / "themes")).items()))


def path_of(name: str) -> Path:
    """The file of a theme.

    Raises:
        ConfigError: there is none of this name, or as `available` says.
    """
    own = home() / "themes" / f"{name}{SUFFIX}"
    if "/" not in name and os.path.lexists(own):
        return own  # if it is no file, `read` says what it is
    known = available()
    if name not in known:
        raise ConfigError(
            f"there is no theme {name!r}", hint=did_you_mean(name, known) or f"there are {', '.join(known)}"
        )
    return known[name]


def read(path: Path) -> Theme:
    """The theme in a file.

    Raises:
        ConfigError: it cannot be read, or is invalid. The message is `FILE:LINE: …`.
    """
    try:
        data = read_bytes(path, MAX_BYTES)
    except OSError as error:
        raise ConfigError(f"{path}:1: cannot be read: {error.strerror}", hint="correct or move it") from None
    text, table = parse_toml(data, path)

    def refuse(key: str, problem: str) -> ConfigError:
        return ConfigError(f"{path}:{line_of(text, key)}: {key}: {problem}", hint="correct the theme")

    warnings = [
        f"{path}:{line_of(text, key)}: unknown key {key}; it is ignored{f' ({near})' if near else ''}"
        for key, near in _unknown_keys(table)
    ]
    parsed = convert(table, _File, refuse)
    name = path.name.removesuffix(SUFFIX)
    return Theme(name, parsed.name or name, path, parsed.dark, _resolved(parsed, refuse), warnings)


def shipped_folder() -> Path:
    """The directory of the themes that come with agentcli: in the package, or in a checkout beside it."""
    package = Path(agentcli.__file__).parent
    inside = package / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def _files(folder: Path) -> dict[str, Path]:
    try:
        paths = [path for path in folder.iterdir() if path.name.endswith(SUFFIX) and path.is_file()]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigError(f"{folder} cannot be read: {error.strerror}", hint="correct or move it") from None
    return {path.name.removesuffix(SUFFIX): path for path in paths}


def _unknown_keys(table: dict[str, Any]) -> list[tuple[str, str]]:
    """Each unknown key, and which one is meant."""
    known = {"": _File.__struct_fields__, "colors.": Colors.__struct_fields__}
    colors = table.get("colors")
    tables = {"": table, "colors.": colors if isinstance(colors, dict) else {}}
    return [
        (f"{prefix}{key}", did_you_mean(key, known[prefix]))
        for prefix, keys in tables.items()
        for key in keys
        if key not in known[prefix]
    ]


def _resolved(file: _File, refuse: Refuse) -> Colors:
    """The colours with no variables among them. `[vars]` is checked even where nothing uses it."""
    for name, value in file.vars.items():
        if not _is_color(value):
            raise refuse(f"vars.{name}", _no_color(value, ()))
    colors: dict[str, str | None] = {}
    for name, value in asdict(file.colors).items():
        color = value if value is None else file.vars.get(value, value)
        if color is not None and not _is_color(color):
            raise refuse(f"colors.{name}", _no_color(color, file.vars))
        colors[name] = color
    return msgspec.convert(colors, Colors)


def _is_color(value: str) -> bool:
    return bool(_HEX.fullmatch(value)) or value in ANSI_COLORS


def _no_color(value: str, names: Collection[str]) -> str:
    near = did_you_mean(value, (*ANSI_COLORS, *names))
    meant = near or f"write #rrggbb, a colour of the terminal like ansi_red{', or a name from [vars]' if names else ''}"
    return f"{value!r} is no colour; {meant}"


def _variables(colors: Colors) -> dict[str, str]:
    """Variables that Textual would compute otherwise, and those that the palette knows by other names."""
    # As they are: Textual's way to them through another colour space rounds.
    variables = {name: color for name in _TEXTUALS if (color := getattr(colors, name)) is not None}
    variables["border"] = colors.border or colors.dim or colors.foreground
    if colors.dim is not None:
        variables["text-muted"] = colors.dim
    if colors.selection is not None:
        variables |= {f"{place}-selection-background": colors.selection for place in ("screen", "input")}
    for tone in Tone:
        for variable, name in ((front(tone), tone.value), (back(tone), f"{tone}_background")):
            if name not in _TEXTUALS and (color := getattr(colors, name, None)) is not None:
                variables[variable] = color
    return variables


def _ansi_variables(colors: Colors) -> dict[str, str]:
    """Variables that Textual assumes for a terminal's own colours: its text, and black bars."""
    fore, behind = colors.foreground, colors.background
    return {
        "surface": colors.surface or behind,
        "text": fore,
        "text-muted": colors.dim or fore,
        "border-blurred": colors.border or colors.dim or fore,
        "ansi-background": behind,
        "ansi-foreground": fore,
        **{f"scrollbar-background{state}": behind for state in ("", "-hover", "-active")},
    }


_TEXTUALS = ("background", "foreground", "primary", "secondary", "accent", "success", "warning", "error")
"""Colours that Textual knows by the same names."""
