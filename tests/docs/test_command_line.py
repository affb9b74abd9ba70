"""What the documentation says of commands and options is what `--help` says, and every command is described somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.docs.test_links import PAGES

_CALL = re.compile(r"\bagentcli((?: [^`|#\n;&>)]+)?)")
GROUPS = ("sessions", "config", "auth")


class Help:
    """What `--help` says of each command, read once.

    Args:
        command: agentcli.
    """

    def __init__(self, command: Command) -> None:
        self._command = command
        self._texts: dict[tuple[str, ...], str] = {}

    def options(self, *words: str) -> set[str]:
        return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", self._text(*words)))

    def commands(self, *words: str) -> set[str]:
        return set(re.findall(r"^  ([a-z]+) ", self._text(*words).partition("\nCommands:\n")[2], re.M))

    def _text(self, *words: str) -> str:
        if words not in self._texts:
            self._texts[words] = self._command.run(*words, "--help").out
        return self._texts[words]


def calls(text: str) -> Iterator[list[str]]:
    """The words after each `agentcli` in code, without what is quoted."""
    joined = text.replace("\\\n", " ")
    code = [*re.findall(r"^```(?:sh|sh run)\n(.*?)^```$", joined, re.M | re.S), *re.findall(r"`([^`\n]+)`", joined)]
    for found in _CALL.findall("\n".join(code)):
        yield re.sub(r"\"[^\"]*\"|'[^']*'|\$\([^)]*\)", "X", found).split()


@pytest.fixture(scope="module")
def help(tmp_path_factory: pytest.TempPathFactory) -> Help:
    folder: Path = tmp_path_factory.mktemp("help")
    return Help(Command(folder / "work", folder / "home"))


def test_commands_and_options_exist(help: Help):
    unknown: list[str] = []
    for page in PAGES:
        for words in calls(page.read_text()):
            name: list[str] = []
            while words and words[0] in help.commands(*name):
                name.append(words.pop(0))
            options = {word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
            unknown += [f"{page.name}: {' '.join(name)} {option}" for option in options - help.options(*name)]
            if name and name[-1] in GROUPS and words and words[0].islower():
                unknown.append(f"{page.name}: {' '.join(name)} {words[0]}")
    assert unknown == []


def test_every_command_is_described(help: Help):
    wanted = {(name,) for name in help.commands() if name not in GROUPS}
    wanted |= {(group, name) for group in GROUPS for name in help.commands(group)}
    assert wanted
    named = {tuple(words[:length]) for page in PAGES for words in calls(page.read_text()) for length in (1, 2)}
    assert sorted(wanted - named) == []
