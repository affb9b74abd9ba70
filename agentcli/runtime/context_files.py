"""Context files: what a person, a team and a repository tell the model, in `AGENTS.md` (or `CLAUDE.md`).

They are read from `~/.agentcli`, then from the repository's root and every folder down to the working one, so that the
nearer ones come later. One file a folder. None of them can stop a start: what cannot be read is left out and told.
"""

from pathlib import Path

from msgspec import Struct

from agentcli.config.paths import project_folders

NAMES = ("AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
"""The first of these that is a file counts, in each folder."""

MAX_BYTES = 64 << 10
"""A longer file is cut: it would be a large part of every request."""

_BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class ContextFile(Struct, frozen=True):
    path: Path
    text: str


def find_context_files(home: Path, cwd: Path) -> tuple[list[ContextFile], list[str]]:
    """The files in their order, and a line for each that is cut or cannot be read."""
    found: list[ContextFile] = []
    notices: list[str] = []
    seen: set[Path] = set()
    for folder in (home, *reversed(project_folders(cwd))):
        path = _file_in(folder)
        if path is None or path.resolve() in seen:
            continue
        seen.add(path.resolve())
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            notices.append(f"{path} cannot be read, so it is left out: {error.strerror}")
            continue
        if len(data) > MAX_BYTES:
            notices.append(f"only the first {MAX_BYTES >> 10} KiB of {path} are used")
        text = _decode(data[:MAX_BYTES]).strip()
        if text:
            found.append(ContextFile(path, text))
    return found, notices


def _file_in(folder: Path) -> Path | None:
    try:
        return next((folder / name for name in NAMES if (folder / name).is_file()), None)
    except OSError:
        return None


def _decode(data: bytes) -> str:
    encoding = next((name for bom, name in _BOMS.items() if data.startswith(bom)), "utf-8")
    return data.decode(encoding, "replace")
