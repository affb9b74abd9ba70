"""Clipboard: the content of the system's clipboard, an image as a file or text, by the programs that can read it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

from agentcli.agent.errors import UsageError
from agentcli.config.paths import home
from agentcli.config.private_file import write_private
from agentcli.sessions.ids import new_id

TIMEOUT_S = 2.0
"""Of each program."""
MAX_BYTES = 20 << 20

_TYPES = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
_OTHER_WAY = "copy it to this machine, and write @path/of/image.png"


class _Program(Struct, frozen=True):
    image: list[str]
    """`TYPE` in it is the type that is wanted."""
    text: list[str]
    types: list[str] = []
    """What lists the types that are there; without it there is only PNG."""


_PROGRAMS = {
    "wl-paste": _Program(
        ["wl-paste", "--type", "TYPE"], ["wl-paste", "--no-newline", "--type", "text"], ["wl-paste", "--list-types"]
    ),
    "xclip": _Program(
        ["xclip", "-selection", "clipboard", "-t", "TYPE", "-o"],
        ["xclip", "-selection", "clipboard", "-o"],
        ["xclip", "-selection", "clipboard", "-t", "TARGETS", "-o"],
    ),
    "pngpaste": _Program(["pngpaste", "-"], ["pbpaste"]),
}


def read_clipboard(copied: str, *, with_image: bool = True) -> Path | str:
    """The image, as a file under `~/.agentcli/pasted`, or else the text. Blocks for a few seconds at most.

    Args:
        copied: what was copied in the app itself, used if the clipboard has no text.
        with_image: whether an image is wanted.

    Raises:
        UsageError: it is empty or no program here can read it, and nothing was copied.
        ConfigError: the image cannot be written.
    """
    program = _PROGRAMS.get(name) if (name := _program()) else None
    found = _read(program, with_image=with_image) if program is not None else ""
    if isinstance(found, Path) or (found := found or copied):
        return found
    if program is None:
        wanted = "pngpaste" if sys.platform == "darwin" else "wl-clipboard or xclip"
        raise UsageError("no program here can read the clipboard", hint=f"install {wanted}; or {_OTHER_WAY}")
    remote = " of this machine (over SSH it is not yours)" if os.environ.get("SSH_CONNECTION") else ""
    raise UsageError(f"there is nothing in the clipboard{remote}", hint=_OTHER_WAY)


def _read(program: _Program, *, with_image: bool) -> Path | str:
    if with_image and (type := _image_type(program)) is not None:
        data = _output([part.replace("TYPE", type) for part in program.image])
        if len(data) > MAX_BYTES:
            raise UsageError(f"the image in the clipboard is larger than {MAX_BYTES >> 20} MiB", hint="make it smaller")
        if data:
            path = home() / "pasted" / f"{new_id()}{_TYPES[type]}"
            write_private(path, data)
            return path
    return _output(program.text).decode("utf-8", "replace")


def _program() -> str:
    fits = {
        "wl-paste": bool(os.environ.get("WAYLAND_DISPLAY")),
        "xclip": bool(os.environ.get("DISPLAY")),
        "pngpaste": sys.platform == "darwin",
    }
    return next((name for name, here in fits.items() if here and shutil.which(name)), "")


def _image_type(program: _Program) -> str | None:
    if not program.types:
        return "image/png"
    offered = _output(program.types).decode("utf-8", "replace").split()
    return next((type for type in _TYPES if type in offered), None)


def _output(argv: list[str]) -> bytes:
    """What a program prints; nothing if it fails, hangs or does not exist."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""
