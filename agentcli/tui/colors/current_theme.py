"""CurrentTheme: the theme an app shows: the chosen one, a preview, and again when its file is saved.

It is read before the first paint from one small file. Problems are returned as lines for the user.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.app import App

from agentcli.agent.errors import ConfigError
from agentcli.tui.colors.themes import Theme, path_of, read, shipped_folder
from agentcli.tui.terminal.background import background_by_environment

DARK, LIGHT = "dark", "light"
DEFAULT = f"{DARK}/{LIGHT}"
POLL_S = 1.0
"""Seconds between two checks of the theme's file; it is read again when two of them agree."""
CSS = """
Screen:ansi > .screen--selection { background: $background; color: $foreground; text-style: reverse; }
Screen:ansi .text-area--placeholder { text-style: dim; }
"""
"""Attributes in place of colours where there are only the terminal's own, as under NO_COLOR."""

_NAME = "agentcli"
"""The name of our theme in Textual, whichever it is: Textual's own names are looked up in style sheets."""

Stamp = tuple[int, int, int]


def without_color(environment: Mapping[str, str] = os.environ) -> bool | None:
    """`App(ansi_color=…)`: under NO_COLOR the terminal's own two colours are used, else the theme's."""
    return True if "NO_COLOR" in environment else None


class CurrentTheme:
    """The theme in use.

    Args:
        app: whose theme it is.
        setting: a name, two names with a slash between, or None for the default.
        is_light: whether the terminal is light; None if it is not known yet.
    """

    def __init__(self, app: App[Any], setting: str | None = None, is_light: bool | None = None) -> None:
        self._app = app
        self._setting = setting or DEFAULT
        self._is_light = bool(background_by_environment(os.environ) if is_light is None else is_light)
        self._file: Path | None = None
        """The file of the theme, also while a fallback is shown in its place."""
        self._stamp: Stamp | None = None
        """Of the file as it was read."""
        self._seen: Stamp | None = None
        """Of the file as it was seen last."""
        self.theme: Theme | None = None
        """The shown theme; None is Textual's own, if no file could be read."""

    def start(self) -> list[str]:
        """Show what is set, before the app runs. Falls back to the default, and returns why."""
        return self._show_setting()

    def choose(self, setting: str | None) -> list[str]:
        """Show what this setting names from now on. Falls back to the default, and returns why."""
        self._setting = setting or DEFAULT
        return self._show_setting()

    def preview(self, name: str) -> list[str]:
        """Show a theme until `choose` or `restore`.

        Raises:
            ConfigError: there is no such theme, or it is invalid. What was shown stays.
        """
        path = path_of(name)
        theme = read(path)
        self._watch(path)
        self._show(theme)
        return theme.warnings

    def restore(self) -> list[str]:
        """Show what is set again, after a preview."""
        return self._show_setting()

    def set_background(self, is_light: bool) -> list[str]:
        """Note the terminal's background. Where a dark and a light theme are set, the right one is shown."""
        if self._is_light == is_light:
            return []
        self._is_light = is_light
        return self._show_setting()

    def poll(self) -> list[str]:
        """Show the theme again if its file was saved. An invalid file changes nothing, and is reported."""
        stamp = _stamp(self._file)
        is_settled, self._seen = stamp == self._seen, stamp
        if self.theme is None or stamp is None or stamp == self._stamp or not is_settled:
            return []
        if self._file != self.theme.path:
            return self._show_setting()
        self._stamp = stamp
        try:
            theme = read(self.theme.path)
        except ConfigError as error:
            return [str(error)]
        self._show(theme)
        return theme.warnings

    def _show_setting(self) -> list[str]:
        self._watch(None)
        try:
            theme = self._pick()
        except ConfigError as error:
            return [str(error), *self._fall_back()]
        self._show(theme)
        return theme.warnings

    def _pick(self) -> Theme:
        *others, last = [name for part in self._setting.split("/") if (name := part.strip())] or DEFAULT.split("/")
        for name in others:
            theme = self._read(name)
            if theme.is_dark != self._is_light:
                return theme
        return self._read(last)

    def _read(self, name: str) -> Theme:
        path = path_of(name)
        self._watch(path)
        return read(path)

    def _fall_back(self) -> list[str]:
        try:
            self._show(read(shipped_folder() / f"{LIGHT if self._is_light else DARK}.toml"))
        except ConfigError as error:
            return [str(error)]
        return []

    def _watch(self, path: Path | None) -> None:
        self._file = path
        self._stamp = self._seen = _stamp(path)

    def _show(self, theme: Theme) -> None:
        app = self._app
        if theme == self.theme:
            return
        self.theme = theme
        app.register_theme(theme.to_textual(_NAME, without_color=app.no_color))
        app.set_reactive(App.theme, _NAME)
        if app.is_running:
            app.mutate_reactive(App.theme)
        else:
            # As a later switch does, without parsing the style sheets twice.
            app.mutate_reactive(App.ansi_color)
            app.stylesheet.set_variables(app.get_css_variables())


def _stamp(path: Path | None) -> Stamp | None:
    """What changes when a file is saved; None while it does not exist."""
    if path is None:
        return None
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
