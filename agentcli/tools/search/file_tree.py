"""FileTree: the paths below a folder that git does not ignore: of files, of the folders that hold them, and of links.

ripgrep lists the files. Links and empty folders it knows nothing of; they are looked for in the folders that it lists
something in, and no ignore file is asked about them.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from agentcli.agent.threads import Stopped

LIST_ARGUMENTS = ("--files", "--null", "--no-config", "--hidden", "--glob=!.git")


class FileTree:
    """Takes the output of `rg` with `LIST_ARGUMENTS`. Paths are relative to the searched folder.

    Those of folders end in `/`. Bytes that are not UTF-8 are surrogates.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._folders: set[str] = {""}

    def take(self, chunk: bytes) -> list[str]:
        """The paths that the chunk completes; a folder comes before what is in it, and once."""
        *ended, self._rest = (self._rest + chunk).split(b"\0")
        paths: list[str] = []
        folders = self._folders
        for data in ended:
            path = data.decode("utf-8", "surrogateescape")
            folder = path.rpartition("/")[0]
            if folder not in folders:
                missing: list[str] = []
                while folder not in folders:
                    folders.add(folder)
                    missing.append(f"{folder}/")
                    folder = folder.rpartition("/")[0]
                paths += reversed(missing)
            paths.append(path)
        return paths

    def unlisted(self, top: Path, stopped: Stopped) -> Iterator[str]:
        """Links and empty folders. What cannot be read holds none; `ripgrep` has told of it."""
        for folder in self._folders:
            if stopped():
                return
            try:
                with os.scandir(f"{top}/{folder}") as entries:
                    found = [entry for entry in entries if entry.name != ".git" and not _is_file(entry)]
            except OSError:
                continue
            for entry in found:
                path = f"{folder}/{entry.name}".removeprefix("/")
                if entry.is_symlink():
                    yield path
                elif path not in self._folders:
                    yield from (f"{path}{below}/" for below in _empty_folders(entry.path) or [])


def _is_file(entry: os.DirEntry[str]) -> bool:
    return not entry.is_symlink() and not entry.is_dir(follow_symlinks=False)


def _empty_folders(path: str) -> list[str] | None:
    """The folder and those below it, if all of them are empty: what follows `path` in theirs."""
    folders = [""]
    for folder in folders:
        try:
            with os.scandir(path + folder) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        return None
                    folders.append(f"{folder}/{entry.name}")
        except OSError:
            return None
    return folders
