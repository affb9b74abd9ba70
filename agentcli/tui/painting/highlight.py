"""Highlighting: source code as coloured runs."""

from functools import lru_cache
from typing import TYPE_CHECKING

from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.painting.rows import Run

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_CHARS = 20_000
"""Longer code stays plain: a lexer needs up to 6 ms for 1,000 characters."""


@lru_cache(maxsize=16)
def highlighted(code: str, language: str, palette: Palette) -> tuple[Run, ...]:
    """The code as runs; plain if the language is not known. The last results are cached: blocks are painted twice."""
    if not language or len(code) > MAX_CHARS or (lexer := _lexer(language)) is None:
        return ((code, palette[Tone.BLOCK]),)
    runs = [(text, palette[_tone(str(kind))]) for kind, text in lexer.get_tokens(code)]
    if runs and runs[-1][0].endswith("\n"):
        runs[-1] = (runs[-1][0][:-1], runs[-1][1])
    return tuple(runs)


@lru_cache(maxsize=32)
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name  # slow
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=True)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _tone(kind: str) -> Tone:
    """The style of a kind of token (`Token.Literal.String.Doc`)."""
    for part, tone in _TONES:
        if kind.startswith(part):
            return tone
    return Tone.BLOCK


_TONES = [
    ("Token.Comment", Tone.COMMENT),
    ("Token.Keyword", Tone.KEYWORD),
    ("Token.Operator.Word", Tone.KEYWORD),
    ("Token.Literal.String", Tone.STRING),
    ("Token.Literal.Number", Tone.NUMBER),
    ("Token.Name.Function", Tone.NAME),
    ("Token.Name.Class", Tone.NAME),
    ("Token.Name.Builtin", Tone.NAME),
    ("Token.Name.Tag", Tone.KEYWORD),
]
