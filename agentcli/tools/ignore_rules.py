"""Ignore rules: which files and folders a search leaves out, by the rules of git, ripgrep and fd.

Read are the program's own ignore file (`.rgignore` or `.fdignore`), `.ignore`, `.gitignore`, `.git/info/exclude` and
git's global excludes file, in this order of rank; within a rank the nearest folder wins, within a file the last line.
What git ignores is ignored in a repository only, and its rules end at the border of a nested repository. `.git` itself
is always left out. Braces in a pattern are choices, as in ripgrep, not characters, as in git.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from agentcli.tools.glob_pattern import expand_braces


class IgnoreFile:
    """The patterns of one ignore file, matched against paths relative to the folder it holds for."""

    def __init__(self, lines: Iterable[str]) -> None:
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # 25 ms, and many trees have no such file

        self._patterns: list[tuple[re.Pattern[str], bool]] = []
        for choice in (choice for line in lines for choice in expand_braces(line)):
            try:
                pattern = GitIgnoreSpecPattern(choice)
            except ValueError:  # a line that is no pattern ignores nothing, as in git
                continue
            if pattern.regex is not None and pattern.include is not None:
                self._patterns.append((re.compile(pattern.regex.pattern), pattern.include))
        self._patterns.reverse()
        self.names_something = any(is_named for _, is_named in self._patterns)
        """Whether a line names what is meant, and not only what is not."""

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def verdict(self, path: str) -> bool | None:
        """True if the path is ignored, False if it is taken back in, None if no line says anything.

        Args:
            path: with `/` at the end if it is a folder.
        """
        for regex, is_ignored in self._patterns:
            if regex.fullmatch(path):
                return is_ignored
        return None


PlacedRules = tuple[str, IgnoreFile]
"""The folder an ignore file holds for, and its rules."""


class Folder:
    """A folder with the rules that hold in it, its own and those from above."""

    def __init__(self, path: str, parent: "Folder | None", shared: "SharedRules") -> None:
        self.path = path
        self._shared = shared
        self._is_repository = os.path.lexists(f"{path}/.git")
        exclude = read_ignore_file(f"{path}/.git/info/exclude") if self._is_repository else None
        self._in_repository = self._is_repository or (parent is not None and parent._in_repository)
        above = parent if parent is not None and not self._is_repository else None
        self._own = self._stack(shared.own_name, parent._own if parent else [])
        self._plain = self._stack(".ignore", parent._plain if parent else [])
        self._git = self._stack(".gitignore", above._git if above else [])
        self._excludes = [*([(path, exclude)] if exclude else []), *(above._excludes if above else [])]

    def _stack(self, name: str, above: list[PlacedRules]) -> list[PlacedRules]:
        """The rules of one rank that hold here, the nearest first."""
        rules = read_ignore_file(f"{self.path}/{name}")
        return [(self.path, rules), *above] if rules else above

    def child(self, name: str) -> "Folder":
        return Folder(f"{self.path.rstrip('/')}/{name}", self, self._shared)

    def ignores(self, name: str, is_folder: bool) -> bool:
        """Whether an entry of this folder is left out."""
        path = f"{self.path.rstrip('/')}/{name}{'/' if is_folder else ''}"
        sources = [*self._own, *self._plain]
        if self._in_repository:
            sources += (*self._git, *self._excludes)
        for folder, rules in sources:
            verdict = rules.verdict(path[len(folder.rstrip("/")) + 1 :])
            if verdict is not None:
                return verdict
        if self._in_repository and self._shared.global_excludes:
            return bool(self._shared.global_excludes.verdict(path[len(self._shared.root.rstrip("/")) + 1 :]))
        return False


class SharedRules:
    """What holds in the whole search.

    Args:
        root: the folder that is searched, a real path.
        own_name: name of the ignore files that only this kind of search reads.
    """

    def __init__(self, root: str, own_name: str) -> None:
        self.root = root
        self.own_name = own_name
        self.global_excludes = read_ignore_file(_global_excludes_path())


def folder_with_rules(shared: SharedRules) -> Folder:
    """The folder that is searched, with the rules of all folders above it."""
    root = shared.root
    folder: Folder | None = None
    for path in reversed([Path(root), *Path(root).parents]):
        folder = Folder(str(path), folder, shared)
    assert folder is not None
    return folder


def read_ignore_file(path: str) -> IgnoreFile | None:
    """The rules in a file, or None if there is none to read."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError:
        return None
    return IgnoreFile(text.splitlines())


def _global_excludes_path() -> str:
    home = os.environ.get("HOME", "")
    config = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    for settings in (f"{home}/.gitconfig", f"{config}/git/config"):
        try:
            text = Path(settings).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found = re.search(r"(?im)^\s*excludesfile\s*=\s*\"?([^\"\r\n]+?)\"?\s*$", text)
        if found:
            return found[1].replace("~", home, 1) if found[1].startswith("~") else found[1]
    return f"{config}/git/ignore"
