"""Prompt templates: `prompts/NAME.md`, which `/NAME arguments` stands for.

In the text, `$1` to `$9` (and `${10}`) are arguments, `$@` and `$ARGUMENTS` all of them, `${N:-default}` and
`${@:-default}` give what holds if there are none, `${@:N}` and `${@:N:LENGTH}` a part of them. What an argument says is
not looked at again.
"""

import re
from collections.abc import Sequence

_PLACES = re.compile(
    r"\$(?:(?P<digit>[1-9](?!\d))|(?P<all>@|ARGUMENTS\b)"
    r"|\{(?P<name>[1-9]\d*|@|ARGUMENTS)(?::-(?P<default>(?:[^}$]++|\$(?!\{))*+)|:(?P<start>\d+)(?::(?P<length>\d+))?)?\})"
)


def fill_in(template: str, arguments: Sequence[str], written: str) -> str:
    """A template with its arguments.

    Args:
        arguments: the words.
        written: what stood after the name, as it was written: that is what `$@` says.
    """

    def value(found: re.Match[str]) -> str:
        name = found["digit"] or found["all"] or found["name"]
        if name not in ("@", "ARGUMENTS"):
            number = int(name)
            said = arguments[number - 1] if number <= len(arguments) else ""
        elif found["start"] is not None:
            first = max(int(found["start"]) - 1, 0)
            last = first + int(found["length"]) if found["length"] is not None else None
            said = " ".join(arguments[first:last])
        else:
            said = written
        return said or found["default"] or ""

    text = _PLACES.sub(value, template)
    return text if not written or _PLACES.search(template) else f"{text.rstrip()}\n\n{written}"


def split_arguments(text: str) -> list[str]:
    """The words of a text. Quotes around something keep it together; an apostrophe in a word is only that."""
    words: list[str] = []
    position = 0
    pattern = re.compile(r"""\s*(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|'([^']*)'(?=\s|$)|(\S+))""", re.S)
    while found := pattern.match(text, position):
        double, single, bare = found.groups()
        if double is not None:
            words.append(re.sub(r"\\(.)", r"\1", double, flags=re.S))
        else:
            words.append(single if single is not None else bare)
        position = found.end()
    return words
