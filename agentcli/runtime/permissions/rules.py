"""Rules of permissions: what one says, and whether it speaks of a path or a command.

`tool` speaks of every call of a tool, `tool(glob)` of its path, `bash(first words)` of the commands that begin so, with
`*` for any word or part of one, `bash(=all words)` of just this command, quoted as in a shell; `network(host)` of what
commands in the sandbox reach. `read` speaks of grep,
find and ls too, `edit` of write. A relative glob starts in the working folder; in `ask` and `deny`, one that starts
with `**/` starts anywhere.
"""

import os
import re
import shlex
import sys
from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from agentcli.agent.errors import ConfigError
from agentcli.agent.tools import ToolKind
from agentcli.config.settings import RULE
from agentcli.runtime.permissions.command_words import RUNNERS, Word
from agentcli.runtime.permissions.glob import glob_regex

_NAME_OF_KIND = {ToolKind.READ: "read", ToolKind.SEARCH: "read", ToolKind.EDIT: "edit", ToolKind.EXECUTE: "bash"}


def rule_names(tool: str, kind: ToolKind) -> tuple[str, ...]:
    """The names under which rules apply to a tool: its own, and last that of its kind, if the kind has one."""
    return tuple(dict.fromkeys((tool, _NAME_OF_KIND.get(kind, tool))))


_TELLING_LONG = (
    "--cd", "--chdir", "--config", "--config-env", "--config-file", "--cwd", "--dir", "--directory", "--eval", "--exec",
    "--exec-path", "--ext-diff", "--file", "--git-dir", "--globalconfig", "--init-file", "--makefile",
    "--manifest-path", "--node-options", "--open-files-in-pager", "--output", "--output-directory", "--prefix",
    "--project", "--rcfile", "--receive-pack", "--script-shell", "--target-dir", "--textconv", "--toolexec",
    "--to-command", "--upload-pack", "--use-compress-program", "--userconfig", "--work-tree",
)  # fmt: skip
"""Options of any command; `changes_what_is_done` says of what kind."""
_TELLING_SHORT = {
    "cargo": ("-C", "-Z"), "gmake": ("-C", "-E", "-I", "-f"), "go": ("-C", "-exec", "-o", "-toolexec"),
    "git": ("-C", "-O", "-c", "-o"), "make": ("-C", "-E", "-I", "-f"), "npm": ("-C",), "pip": ("-c", "-r"),
    "pnpm": ("-C",), "pytest": ("-c", "-o", "-p"), "sort": ("-o",), "tar": ("-C", "-F", "-I"), "yarn": ("-C",),
}  # fmt: skip
"""And short ones by command: with another, the same letter means something harmless."""

_FLAGS = re.S | (re.I if sys.platform == "darwin" else 0)


class Verdict(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Rule:
    """Args:
    verdict: what it says.
    text: the rule as it is written.
    cwd: the working folder, its links resolved.

    Raises:
        ConfigError: it is no rule.
    """

    def __init__(self, verdict: Verdict, text: str, cwd: Path) -> None:
        found = re.fullmatch(RULE, text.strip(), re.S)
        if found is None:
            raise ConfigError(f"{text!r} is no rule of permissions", hint="write tool, tool(path) or bash(first words)")
        self.verdict = verdict
        self.text = text
        self.tool: str = found["tool"]
        self.pattern: str | None = found["pattern"]
        self._cwd = cwd
        if self.tool == "bash" and self.pattern is not None and not self.pattern.removesuffix(":*").strip("= "):
            raise ConfigError(
                f"the rule {text} names no command", hint="write bash for all of them, or bash(first words)"
            )
        self._exactly: list[str] | None = None
        if self.tool == "bash" and self.pattern and self.pattern.startswith("="):
            try:
                self._exactly = shlex.split(self.pattern[1:])
            except ValueError as error:
                raise ConfigError(f"the rule {self.text}: {error}", hint="correct the quotes") from None

    def speaks_of(self, *names: str) -> bool:
        """Whether the rule is written for one of these names, or for all."""
        return self.tool == "*" or self.tool in names

    def covers_path(self, path: Path) -> bool:
        """Whether the rule speaks of this path, which is absolute and without `..`."""
        if self.pattern is None:
            return True
        return self._regex.fullmatch(str(path)) is not None and (
            self.verdict != Verdict.ALLOW
            or not is_sensitive(path)
            or ".git" in self.pattern
            or ".agentcli" in self.pattern
        )

    def covers_command(self, words: Sequence[Word], *, guess: bool = False) -> bool:
        """Whether the rule speaks of a simple command.

        To allow, the command has to begin with exactly these words, and none that follows may be an option that makes
        it work elsewhere, write a file or run something. To ask or deny it is enough that it may begin so: options may
        stand between, and another command may run it (`sudo`, `xargs`).

        Args:
            guess: words that are not known may be those of the rule.
        """
        if self.pattern is None:
            return True
        if self._exactly is not None:
            candidates = [words] if self.verdict == Verdict.ALLOW else _commands_in(words)
            return any(self._is_just(candidate, guess=guess) for candidate in candidates)
        wanted = self.pattern.removesuffix(":*").split()
        if self.verdict == Verdict.ALLOW:
            begins = len(words) >= len(wanted) and all(
                word is not None and fnmatchcase(word, pattern) if pattern != "*" else True
                for word, pattern in zip(words, wanted, strict=False)
            )
            return begins and not any(changes_what_is_done(words[0], word) for word in words[len(wanted) :])
        return any(_may_be(candidate, wanted, guess) for candidate in _commands_in(words))

    def covers_host(self, host: str) -> bool:
        """Whether the rule speaks of this host, which is in small letters."""
        return self.pattern is None or fnmatchcase(host, self.pattern.lower())

    def _is_just(self, words: Sequence[Word], *, guess: bool) -> bool:
        exactly = self._exactly or []
        same = (word == wanted or (guess and word is None) for word, wanted in zip(words, exactly, strict=False))
        return len(words) == len(exactly) and all(same)

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        pattern = os.path.expanduser(self.pattern or "")  # noqa: PTH111 (a pattern is no path)
        inside = "" if re.search(r"[*?\[{]", pattern) else "(?:/.*)?"
        try:
            if pattern.startswith("/"):
                body = glob_regex(pattern.rstrip("/"))
            elif pattern.startswith("**/") and self.verdict != Verdict.ALLOW:
                body = "/" + glob_regex(pattern)
            else:
                folder = self._cwd
                pattern = re.sub(r"^(\./)+", "", pattern.rstrip("/"))
                while pattern == ".." or pattern.startswith("../"):
                    folder, pattern = folder.parent, pattern[3:]
                body = re.escape(str(folder).rstrip("/")) + (
                    "/" + glob_regex(pattern) if pattern not in ("", ".") else ""
                )
        except ValueError as error:
            raise ConfigError(f"the rule {self.text}: {error}", hint="correct the pattern") from None
        return re.compile(body + inside, _FLAGS)


def changes_what_is_done(command: Word, word: Word) -> bool:
    """Whether a word may be an option with which a harmless command works elsewhere, writes a file or runs something.

    Long options may be abbreviated, and short ones hold their value. Not every command knows that none follows `--`.
    """
    if word is None or not word.startswith("-"):
        return False
    name = word.partition("=")[0]
    if name.startswith("--"):
        return len(name) > 2 and any(option.startswith(name) for option in _TELLING_LONG)
    return word.startswith(_TELLING_SHORT.get((command or "").rpartition("/")[2], ()))


def is_sensitive(path: Path) -> bool:
    """Whether a change of this file changes what git or agentcli run: a broad rule does not allow it."""
    names = [part.lower() for part in path.parts]  # on some file systems `.GIT` is `.git`
    return any(name == ".git" or name.startswith(".agentcli") for name in names)


def _commands_in(words: Sequence[Word]) -> list[Sequence[Word]]:
    """A command without the assignments before it; if it runs another one, everything that this may be."""
    start = next((i for i, word in enumerate(words) if word is None or not re.match(r"\w+=", word)), len(words))
    words = words[start:]
    name = words[0].rpartition("/")[2] if words and words[0] else ""
    if name not in RUNNERS:
        return [words]
    return [words[place:] for place in range(len(words))]


def _may_be(words: Sequence[Word], wanted: Sequence[str], guess: bool) -> bool:
    """Whether a command may begin with the wanted words, with options and their values in between."""
    if not words:
        return False
    first, *rest = wanted
    name = words[0] if words[0] is None or "/" in first else words[0].rpartition("/")[2]
    return _is(name, first, guess) and _may_follow(words[1:], rest, guess)


def _is(word: Word, wanted: str, guess: bool) -> bool:
    return guess if word is None else fnmatchcase(word, wanted)


def _may_follow(words: Sequence[Word], wanted: Sequence[str], guess: bool) -> bool:
    if not wanted:
        return True
    for place, word in enumerate(words):
        if _is(word, wanted[0], guess) and _may_follow(words[place + 1 :], wanted[1:], guess):
            return True
        before = words[place - 1] if place else None
        is_value = before is not None and before.startswith("-") and "=" not in before
        if not is_value and (word is None or not word.startswith("-")):
            return False
    return False
