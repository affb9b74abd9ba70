"""Context files: what a person, a team and a repository tell the model, in `AGENTS.md` (or `CLAUDE.md`).

They are read from `~/.agentcli`, then from the repository's root and every folder down to the working one, so that the
nearer ones come later. One file a folder: the first that can be read. None of them can stop a start: what cannot be
read is left out and told.
"""

import os
from pathlib import Path

from msgspec import Struct

from agentcli.config.paths import project_folders
from agentcli.files.reading import Judge, decode, read_beginning

NAMES = ("AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""The first of these that can be read counts, in each folder."""

MAX_BYTES = 64 << 10
"""A longer file is cut: it would be a large part of every request."""


class ContextFile(Struct, frozen=True):
    path: Path
    text: str


def find_context_files(home: Path, cwd: Path, judge: Judge) -> tuple[list[ContextFile], list[str]]:
    """The files in their order, and a line for each that is cut, damaged or left out.

    Args:
        judge: refuses a file that is not to be read.
    """
    found: list[ContextFile] = []
    notices: list[str] = []
    seen: set[str] = set()
    for folder in (home, *reversed(project_folders(cwd))):
        for name in NAMES:
            path = folder / name
            try:
                if (real := os.path.realpath(path)) in seen:
                    break
                text = _read(path, judge, notices)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                notices.append(f"{path} cannot be read, so it is left out: {error.strerror}")
                continue
            seen.add(real)
            if text:
                found.append(ContextFile(path, text))
            break
    return found, notices


def _read(path: Path, judge: Judge, notices: list[str]) -> str:
    data, is_longer = read_beginning(path, MAX_BYTES, judge)
    # A character that is cut at the end is no damage.
    text, is_whole = decode(data)
    if is_longer:
        notices.append(f"only the first {MAX_BYTES >> 10} KiB of {path} are used")
        text = text.rstrip("\ufffd")
    elif not is_whole:
        notices.append(f"{path} is not UTF-8; what cannot be read in it is replaced")
    return text.strip()
