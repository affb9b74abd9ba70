"""PastedPaths: the images in a paste that consists of paths, as terminals write them when files are dropped on them.

Absolute paths and those that begin with `~` are read: bare, in quotes, with backslashes, and as `file://` URLs.
"""

import contextlib
import re
import shlex
from pathlib import Path
from urllib.parse import unquote

from agentcli.runtime.attachments import IMAGE_SUFFIXES
from agentcli.tui.editing.completion import Kind, written_path

MAX_CHARACTERS = 8_192
"""A longer paste is text."""

_ADDRESS = re.compile(r"file:(?://(?:localhost)?)?(/.*)", re.DOTALL)


def image_mentions(text: str, cwd: Path | None) -> str:
    """The images as `@path`, separated by spaces; empty if the text is anything else. Reads the disk.

    Args:
        text: the paste.
        cwd: paths in it are written relative to it.
    """
    if len(text) > MAX_CHARACTERS:
        return ""
    for words in _readings(text):
        paths = [_path(word) for word in words]
        if paths and all(path is not None and _is_image(path) for path in paths):
            return " ".join(image_mention(path, cwd) for path in paths if path is not None)
    return ""


def image_mention(path: Path, cwd: Path | None) -> str:
    """The path of an image as `@path`, relative to `cwd` if it is in it."""
    inside = cwd is not None and path.is_relative_to(cwd)
    return written_path(str(path.relative_to(cwd) if cwd is not None and inside else path), Kind.MENTION)


def _readings(text: str) -> list[list[str]]:
    """The words that the text may consist of: its lines, or what a shell would read."""
    readings = [[line.strip() for line in text.splitlines() if line.strip()]]
    with contextlib.suppress(ValueError):  # a quote without its end
        readings.append(shlex.split(text))
    return readings


def _path(word: str) -> Path | None:
    if word.startswith("file:"):
        return Path(unquote(found[1])) if (found := _ADDRESS.fullmatch(word)) else None
    if not word.startswith(("/", "~/")):
        return None
    try:
        return Path(word).expanduser()
    except RuntimeError:
        return None  # there is no home directory


def _is_image(path: Path) -> bool:
    try:
        return path.suffix.lower() in IMAGE_SUFFIXES and path.is_file()
    except (OSError, ValueError):
        return False  # unreadable, or not a path
