"""ShellWords: reads the words of a shell command, and the marks between them: quotes, expansions, operators, documents.

`ShellReader` reads what they are put together to. A form that is not in here is `Unclear`.
"""

import re

from msgspec import Struct

from agentcli.runtime.permissions.command_words import Word

_ODD = re.compile(r"[^\S \t\n]|[\x00-\x08\x0e-\x1f\x7f]")
BREAKS = frozenset(" \t\n;&|<>()")
_PLAIN = re.compile(r"[^ \t\n;&|<>()'\"\\$`*?\[{}~]+")
FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED = re.compile(r"\{(?:[@*#?]|#[A-Za-z_]\w*|(?:[A-Za-z_]\w*|[0-9]+)(?::?[-+][\w./:@%,+=-]*)?)\}", re.A)
_IN_QUOTES = re.compile(r'[^"`$\\]+')
_IN_DOCUMENT = re.compile(r"[^`$\\]+")
_SUM = re.compile(r"\(\([\d \t+*/%-]+\)\)", re.A)
_AFTER_LITERAL_DOLLAR = frozenset(" .,:;)%/|^'\"=+~}]&")
_OPERATOR = re.compile(r"&>>|&>|&&|&|\|\||\|&|\||;;&|;;|;&|;|<<<|<<-|<<|<&|<>|<|>>|>&|>\||>|\(|\)|\n")
_RESERVED = re.compile(
    r"(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|in|coproc|time|[{}!]|\[\[)"
    r"(?=[ \t\n;&|<>()]|\Z)"
)
_BRACKETS = frozenset({"{", "}", "{}", "[", "[["})
"""Words that look like patterns and are none."""


class Unclear(Exception):
    """The command has a form that is not understood; the message says which."""


class Token(Struct):
    """A word of a command."""

    word: Word
    raw: str
    """As it stands there."""
    splits: bool = False
    """Whether a run may make several words of it, or none."""

    @property
    def is_plain(self) -> bool:
        return self.word == self.raw

    @property
    def assigned(self) -> str | None:
        """The variable that it gives a value to, if it stands in front of a command."""
        found = _ASSIGNMENT.match(self.raw)
        return found[1] if found else None


class ShellWords:
    """Args:
    text: one or more commands.

    Raises:
        Unclear: it holds characters that a shell may take for something else; so do all methods for what they meet.
    """

    def __init__(self, text: str) -> None:
        if _ODD.search(text):
            raise Unclear("it holds odd blanks or control characters")
        self._text = text
        self._at = 0
        self._substitutions = 0
        """In how many the place is that is read."""
        self._documents: list[tuple[str, bool, bool]] = []
        """Here-documents that begin in the next line: what ends each, whether it is expanded, whether tabs go."""

    def _read_substitution(self) -> None:
        """Read the commands in parentheses that come next."""
        raise NotImplementedError

    def _expanded(self, document: str) -> None:
        """Read the expansions in a here-document."""
        raise NotImplementedError

    def _next_word(self) -> Token:
        """A word that has to be there, on this line."""
        if self._operator() or self._at >= len(self._text):
            raise Unclear("it cannot be parsed")
        return self._word()

    def _word_or_array(self) -> Token:
        start = self._at
        found = _ASSIGNMENT.match(self._text, start)
        if not found or not self._text.startswith("(", found.end()):
            return self._word()
        self._at = found.end() + 1
        while self._operator() != ")":
            element = self._next_word()
            if "[" in element.raw or "#" in element.raw:
                raise Unclear("it holds a subscript")
        self._take(")")
        if self._at < len(self._text) and self._text[self._at] not in " \t\n;&|)":
            raise Unclear("it holds a word that goes on after an array")
        return Token(f"{found[0]}…", self._text[start : self._at])

    def _word(self) -> Token:
        start = self._at
        pieces: list[Word] = []
        splits = False
        text = self._text
        while self._at < len(text) and (char := text[self._at]) not in BREAKS:
            match char:
                case "'":
                    pieces.append(self._raw_string())
                case '"':
                    self._at += 1
                    pieces.append(self._quoted(end='"'))
                    splits = splits or re.search(r"\$\{?@", text[start : self._at]) is not None
                case "\\":
                    if text[self._at + 1 : self._at + 2] in ("", "\n"):
                        raise Unclear("it holds a line that goes on in the next one")
                    pieces.append(text[self._at + 1])
                    self._at += 2
                case "$":
                    splits = splits or not text.startswith("$'", self._at)
                    pieces.append(self._expansion(is_quoted=False))
                case "`":
                    raise Unclear("it holds backquotes")
                case "~":
                    pieces.append(self._tilde(start))
                case "*" | "?" | "[" | "{" | "}":
                    splits = True
                    pieces.append(None)
                    self._at += 1
                case _:
                    found = _PLAIN.match(text, self._at)
                    assert found is not None
                    pieces.append(found[0])
                    self._at = found.end()
        if self._text.startswith("(", self._at) and self._at > start and not FUNCTION.fullmatch(text, start, self._at):
            raise Unclear("it holds a parenthesis in a word")
        if text.startswith(("<(", ">("), self._at) and self._at > start:
            raise Unclear("it holds a substitution in a word")
        raw = text[start : self._at]
        if raw in _BRACKETS:
            return Token(raw, raw)
        word = _joined(pieces)
        # A tilde that is quoted is a letter.
        return Token(f"./{word}" if word and word[0] == "~" != raw[0] else word, raw, splits)

    def _raw_string(self) -> str:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise Unclear("it holds a quote without an end")
        string = self._text[self._at + 1 : end]
        self._see_lines(string)
        self._at = end + 1
        return string

    def _quoted(self, end: str) -> Word:
        """Up to a double quote, or, of a here-document, to its end."""
        text = self._text
        pieces: list[Word] = []
        while not end or not text.startswith(end, self._at):
            if self._at >= len(text):
                if end:
                    raise Unclear("it holds a quote without an end")
                return None
            char = text[self._at]
            if char == "`":
                raise Unclear("it holds backquotes")
            if char == "$":
                pieces.append(self._expansion(is_quoted=True))
                continue
            if char == "\\":
                following = text[self._at + 1 : self._at + 2]
                if following in ("", "\n"):
                    raise Unclear("it holds a line that goes on in the next one")
                pieces.append(following if following in ("$", "`", "\\", end) else char + following)
                self._at += 2
                continue
            found = (_IN_QUOTES if end else _IN_DOCUMENT).match(text, self._at)
            assert found is not None
            self._see_lines(found[0])
            pieces.append(found[0])
            self._at = found.end()
        self._at += 1
        return _joined(pieces)

    def _see_lines(self, string: str) -> None:
        if self._documents and "\n" in string:
            raise Unclear("it holds a here-document in the middle of a quote")

    def _tilde(self, start: int) -> Word:
        """`~` and `~/…` are the home; another user's, or one in the middle of an assignment, only a run tells."""
        self._at += 1
        following = self._text[self._at : self._at + 1]
        if self._at - 1 == start:
            return "~" if following == "/" or not following or following in BREAKS else None
        return None if self._text[self._at - 2] in "=:" else "~"

    def _expansion(self, *, is_quoted: bool) -> Word:
        text, start = self._text, self._at
        self._at += 1
        following = text[self._at : self._at + 1]
        if following == "(":
            if found := _SUM.match(text, self._at):
                self._at = found.end()
                return None
            if text.startswith("((", self._at):
                raise Unclear("it calculates")
            self._substitution()
            return None
        if following == "{":
            found = _BRACED.match(text, self._at)
            if not found:
                raise Unclear("it holds an expansion that is not plain")
            self._at = found.end()
            return None
        if found := _PARAMETER.match(text, self._at):
            self._at = found.end()
            return None
        if following == "'" and not is_quoted:
            if "\\" in self._raw_string():
                raise Unclear("it holds escapes in a quote")
            return None
        if is_quoted and following in _AFTER_LITERAL_DOLLAR and following:
            return "$"
        raise Unclear(f"it holds {text[start : self._at + 1].strip()!r} where it may mean several things")

    def _substitution(self) -> None:
        """From its opening parenthesis to what follows the closing one."""
        if self._documents:
            raise Unclear("it holds a substitution between a here-document and its beginning")
        self._substitutions += 1
        self._read_substitution()
        self._substitutions -= 1

    def _process_substitution(self) -> Token:
        start = self._at
        self._at += 1
        self._substitution()
        if self._at < len(self._text) and self._text[self._at] not in BREAKS:
            raise Unclear("it holds a word that goes on after a substitution")
        return Token(None, self._text[start : self._at])

    # What comes next

    def _blanks(self) -> None:
        while self._text.startswith((" ", "\t"), self._at):
            self._at += 1

    def _operator(self) -> str:
        """The operator that comes next, after blanks and a comment; "" before a word and at the end."""
        self._blanks()
        if self._text.startswith("#", self._at):
            if self._substitutions:
                raise Unclear("it holds a comment in a substitution")
            end = self._text.find("\n", self._at)
            self._at = end if end >= 0 else len(self._text)
        found = _OPERATOR.match(self._text, self._at)
        return found[0] if found else ""

    def _reserved(self) -> str:
        """The reserved word that comes next; "" if there is none."""
        if self._operator():
            return ""
        found = _RESERVED.match(self._text, self._at)
        return found[0] if found else ""

    def _take(self, expected: str) -> None:
        if (self._operator() or self._reserved()) != expected:
            raise Unclear("it cannot be parsed")
        self._at += len(expected)
        if expected == "\n" and self._documents:
            self._read_documents()

    def _newlines(self) -> None:
        while self._operator() == "\n":
            self._take("\n")

    def _read_documents(self) -> None:
        """What follows a line with `<<`."""
        documents, self._documents = self._documents, []
        for delimiter, is_expanded, strips in documents:
            lines: list[str] = []
            while True:
                if self._at >= len(self._text):
                    raise Unclear("it holds a here-document without an end")
                end = self._text.find("\n", self._at)
                line = self._text[self._at : end if end >= 0 else len(self._text)]
                self._at += len(line) + 1
                if (line.lstrip("\t") if strips else line) == delimiter:
                    break
                lines.append(line)
            self._at = min(self._at, len(self._text))
            if is_expanded:
                body = "\n".join(lines) + "\n"
                self._expanded(body)


def _joined(pieces: list[Word]) -> Word:
    known = [piece for piece in pieces if piece is not None]
    return "".join(known) if len(known) == len(pieces) else None
