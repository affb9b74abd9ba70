"""Command parts: what a shell command would run, write and read, as far as that can be known before it runs.

`shell_reader` reads the command. What is only known at run time is None in place of a word; what is not understood
makes the whole command `unclear`.
"""

import re

from msgspec import Struct

from agentcli.runtime.permissions.command_words import PREFIXES, RUNNERS, SHELLS, Word
from agentcli.runtime.permissions.shell_arithmetic import may_calculate
from agentcli.runtime.permissions.shell_reader import Redirection, ShellReader
from agentcli.runtime.permissions.shell_words import Token, Unclear

MAX_DEPTH = 5
"""Commands inside of commands: `sh -c "sh -c …"`."""

_RUN_TEXT = frozenset({"env", "flock", "parallel", "script", "ssh", "su", "watch"})
"""Runners that may take a whole command for one argument."""

_ASSIGNMENT = re.compile(r"\w+\+?=")
_HARMLESS_NAME = re.compile(r"[a-z][a-z0-9]*")
"""A variable that no program looks for in its environment."""


class CommandPart(Struct, frozen=True):
    """One simple command."""

    words: list[Word]
    is_piped: bool = False
    """Whether it is given the output of another one, so that its words do not say all that it does."""

    @property
    def text(self) -> str:
        return " ".join("…" if word is None else word for word in self.words)


class ParsedCommand(Struct):
    parts: list[CommandPart] = []
    redirections: list[Redirection] = []
    has_input: bool = False
    """Whether a command is given a text or a file, by `<` or a here-document."""
    folders: list[Word] = []
    """Where it goes with `cd` and its like. After one of them a relative path may start in any of these folders."""
    unclear: str | None = None
    """Why the command cannot be judged by its parts."""


def parse_command(text: str) -> ParsedCommand:
    """The parts of a command, those in substitutions, functions, `sh -c` and `eval` included."""
    parsed = ParsedCommand()
    _Collector(parsed, 0).read(text)
    return parsed


class _Collector:
    def __init__(self, parsed: ParsedCommand, depth: int) -> None:
        self.parsed = parsed
        self.depth = depth

    def read(self, text: str) -> None:
        if self.depth > MAX_DEPTH:
            return self.give_up("it holds commands in commands, too deep to follow")
        try:
            reader = ShellReader(text, self.take, self.parsed.redirections.append)
            reader.read()
            self.parsed.has_input = self.parsed.has_input or reader.has_input
        except Unclear as reason:
            self.give_up(str(reason))
        return None

    def give_up(self, reason: str) -> None:
        self.parsed.unclear = self.parsed.unclear or reason

    def take(self, tokens: list[Token], is_piped: bool) -> None:
        words: list[Word] = []
        in_front = True
        for token in tokens:
            in_front = in_front and token.assigned is not None
            words.append(f"{token.assigned}={_value(token)}" if in_front else token.word)
        if in_front:
            # Nothing but assignments.
            words = [
                word
                for word, token in zip(words, tokens, strict=True)
                if not _HARMLESS_NAME.fullmatch(token.assigned or "")
            ]
        if words:
            self.check(tokens, words)
            self.add(words, is_piped)

    def check(self, tokens: list[Token], words: list[Word]) -> None:
        """See to it that no builtin evaluates what nobody knows."""
        _, rest = _split_assignments(words)
        name = rest[0].rpartition("/")[2] if rest and rest[0] else ""
        arguments = tokens[len(tokens) - len(rest) + 1 :]
        if may_calculate(name, arguments, is_prefixed=tokens[0].word != name):
            self.give_up(f"{name} may calculate, and run what is in a variable")

    def add(self, words: list[Word], is_piped: bool) -> None:
        assigned, words = _split_assignments(words)
        if not words:
            self.parsed.parts += [CommandPart(assigned)] if assigned else []
            return None
        name = None if words[0] is None else words[0].rpartition("/")[2]
        if name is None:
            return self.give_up("the name of a command is only known when it runs")
        inner = _inner_text(name, words) if name in SHELLS or name in ("eval", "trap") else None
        if inner is not None:
            self.add(assigned, False)
            return _Collector(self.parsed, self.depth + 1).read(inner)
        if name == "eval" or (name == "trap" and None in words) or (name in SHELLS and not _has_script(words)):
            self.give_up(f"{name} runs what is only known later")
        self.parsed.parts.append(CommandPart([*assigned, *words], is_piped))
        if name in _RUN_TEXT and any(word and re.search(r"\s", word) for word in words):
            self.give_up(f"{name} may run a text")
        if name in ("cd", "pushd", "popd"):
            self.parsed.folders.append(_goes_to(words[1:]))
        inside = [place for place, word in enumerate(words) if word and word.rpartition("/")[2] in SHELLS]
        if name in RUNNERS and inside:
            self.add(words[inside[0] :], is_piped)
        return None


def _value(token: Token) -> str:
    return "…" if token.word is None else token.word.partition("=")[2]


def _goes_to(arguments: list[Word]) -> Word:
    """The folder that `cd` is given; None if only a run would tell."""
    folders = [word for word in arguments if word is None or not word.startswith("-") or word == "-"]
    if not folders:
        return "~"
    return folders[0] if len(folders) == 1 and folders[0] and folders[0][0] not in "-+" else None


def _split_assignments(words: list[Word]) -> tuple[list[Word], list[Word]]:
    """The assignments in front of a command, and the command without what only runs it."""
    assigned: list[Word] = []
    while True:
        rest = _without_prefixes(words)
        count = next((i for i, word in enumerate(rest) if word is None or not _ASSIGNMENT.match(word)), len(rest))
        assigned += rest[:count]
        if rest == words and not count:
            return assigned, words
        words = rest[count:]


def _without_prefixes(words: list[Word]) -> list[Word]:
    """`time`, `nohup`, `timeout 5` and their like taken away, if they stand there without options."""
    while len(words) > 1 and words[0] in PREFIXES:
        rest = words[2:] if words[0] == "timeout" and re.fullmatch(r"[\d.]+[smhd]?", words[1] or "") else words[1:]
        if not rest or (rest[0] is not None and rest[0].startswith("-")):
            break
        if words[0] == "timeout" and len(rest) == len(words) - 1:
            break
        words = rest
    return words


def _inner_text(name: str, words: list[Word]) -> str | None:
    """The script that a shell gets as an argument; None if there is none, or it is not known."""
    arguments = words[1:]
    if name == "eval":
        known = [word for word in arguments if word is not None]
        return " ".join(known) if len(known) == len(arguments) else None
    if name == "trap":
        return next((word for word in arguments[:1] if word and not word.startswith("-")), None)
    for place, word in enumerate(arguments):
        if word is None or not word.startswith(("-", "+")):
            # A script's file: the shell is a command like any other.
            return None
        if not word.startswith("--") and "c" in word:
            following = [later for later in arguments[place + 1 :] if later is None or not later.startswith("-")]
            return following[0] if following else None
    return None


def _has_script(words: list[Word]) -> bool:
    """Whether a shell is given the file to run."""
    for word in words[1:]:
        if word is None or (not word.startswith("--") and "c" in word and word.startswith("-")):
            return False
        if not word.startswith(("-", "+")):
            return True
    return False
