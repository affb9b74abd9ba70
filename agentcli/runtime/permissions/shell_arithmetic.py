"""Shell arithmetic: where builtins of bash take a name such as `a[$(…)]`, and run what is in its subscript.

`[ -v NAME ]`, `printf -v NAME`, `read NAME`, `declare -i NAME=SUM` and their like: a name that is only known when it
runs may be any.
"""

import re
from collections.abc import Sequence

from agentcli.runtime.permissions.shell_words import Token

_TAKE_NAMES = frozenset(
    {"declare", "export", "getopts", "local", "mapfile", "read", "readarray", "readonly", "typeset", "unset"}
)
_DECLARE = frozenset({"declare", "local", "typeset", "export", "readonly"})
_COMPARISON = re.compile(r"[=!<>]=?|-[a-z]{2}|-[ao]|\]")


def may_calculate(name: str, arguments: Sequence[Token], *, is_prefixed: bool) -> bool:
    """Whether a builtin may evaluate a text that is only known when it runs, or that holds a subscript.

    Args:
        is_prefixed: another command runs it (`command export x=$y`), so that its assignments are words like all others.
    """
    match name:
        case "let":
            return True
        case "[" | "test":
            return any(token.splits or _begins(token, "-v", "-R") for token in arguments) or _may_be_an_option(
                arguments
            )
        case "printf":
            return bool(arguments) and (arguments[0].word is None or _begins(arguments[0], "-v"))
        case "wait":
            return any(token.word is None or _begins(token, "-p") for token in arguments)
        case _ if name in _TAKE_NAMES:
            return any(_may_be_subscripted(name, token, is_prefixed) for token in arguments)
        case _:
            return False


def _may_be_subscripted(name: str, token: Token, is_prefixed: bool) -> bool:
    if token.assigned is not None and not (is_prefixed and token.splits):
        return False
    word = token.word
    if word is None or "[" in word.partition("=")[0] or (name in ("mapfile", "readarray") and word.startswith("-C")):
        return True
    return name in _DECLARE and re.match(r"[-+]\w*[in]", word) is not None


def _may_be_an_option(arguments: Sequence[Token]) -> bool:
    """Whether a word of a test that is not known may be `-v`, because it stands where an operand need not be."""
    for before, token, after in zip((None, *arguments), arguments, (*arguments[1:], None), strict=False):
        is_operand = before is not None and before.word is not None and before.word.startswith(("-", "=", "!="))
        is_compared = after is None or (after.word is not None and _COMPARISON.fullmatch(after.word) is not None)
        if token.word is None and not is_operand and not is_compared:
            return True
    return False


def _begins(token: Token, *options: str) -> bool:
    return token.word is not None and token.word.startswith(options)
