"""ShellReader: reads shell commands in the forms that it knows to be the same to bash, and gives up on all others.

It knows a small shell: words, quotes, plain expansions, substitutions, redirections, here-documents, lists, pipelines,
groups, `if`, `for`, `while`, `until`, `case`, plain `[[ … ]]` and functions. A form that is not in here is `Unclear`:
better to ask about too much than to read a command in another way than the shell that runs it.
"""

import re
from collections.abc import Callable, Collection

from msgspec import Struct

from agentcli.runtime.command_words import Word

MAX_NESTING = 30
"""Groups and substitutions in each other."""

_ODD = re.compile(r"[^\S \t\n]|[\x00-\x08\x0e-\x1f\x7f]")
_BREAKS = frozenset(" \t\n;&|<>()")
_PLAIN = re.compile(r"[^ \t\n;&|<>()'\"\\$`*?\[{}~]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_BRACED = re.compile(r"\{(?:[@*#?]|#[A-Za-z_]\w*|(?:[A-Za-z_]\w*|[0-9]+)(?::?[-+][\w./:@%,+=-]*)?)\}", re.A)
_IN_QUOTES = re.compile(r'[^"`$\\]+')
_IN_DOCUMENT = re.compile(r"[^`$\\]+")
_SUM = re.compile(r"\(\([\d \t+*/%-]+\)\)", re.A)
_AFTER_LITERAL_DOLLAR = frozenset(" .,:;)%/|^'\"=+~}]&")
_DELIMITER = re.compile(r"(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)", re.A)
_OPERATOR = re.compile(r"&>>|&>|&&|&|\|\||\|&|\||;;&|;;|;&|;|<<<|<<-|<<|<&|<>|<|>>|>&|>\||>|\(|\)|\n")
_ENDS = frozenset({";", "&", "&&", "||", "|", "|&", "\n", ")", ";;", ";&", ";;&", ""})
_CASE_ENDS = frozenset({";;", ";&", ";;&"})
_RESERVED = re.compile(
    r"(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|in|coproc|time|[{}!]|\[\[)"
    r"(?=[ \t\n;&|<>()]|\Z)"
)
_BRACKETS = frozenset({"{", "}", "{}", "[", "[["})
"""Words that look like patterns and are none."""
_TEST = re.compile(r"-[a-zA-Z]")
_END_OF_TEST = re.compile(r"\]\](?=[ \t\n;&|<>()]|\Z)")
_NO_TEST = frozenset({"-v", "-R", "-t", "-o"})
_COMPARISONS = frozenset({"=", "==", "!=", "-ef", "-nt", "-ot"})


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


class Redirection(Struct, frozen=True):
    target: Word
    writes: bool


class ShellReader:
    """Args:
    text: one or more commands.
    on_command: takes the words of each simple command as they are found, those in substitutions first, and whether
        it is given the output of another one.
    on_redirection: takes each redirection from or to a file.

    Raises:
        Unclear: by `read`.
    """

    def __init__(
        self,
        text: str,
        on_command: Callable[[list[Token], bool], None],
        on_redirection: Callable[[Redirection], None],
        nesting: int = 0,
    ) -> None:
        if _ODD.search(text):
            raise Unclear("it holds odd blanks or control characters")
        self._text = text
        self._at = 0
        self._on_command = on_command
        self._on_redirection = on_redirection
        self._nesting = nesting
        self._substitutions = 0
        self._is_piped = False
        self.has_input = False
        """Whether a command is given a text or a file: by `<`, a here-document, or a here-string."""
        self._documents: list[tuple[str, bool, bool]] = []
        """Here-documents that begin in the next line: what ends each, whether it is expanded, whether tabs go."""

    def read(self) -> None:
        self._list()
        if self._operator() == ")":
            raise Unclear("it cannot be parsed")

    # Lists, pipelines and what they consist of

    def _list(self, words: Collection[str] = (), operators: Collection[str] = ()) -> None:
        """Commands up to one of the reserved words or operators, which is left; without any, to the end."""
        self._newlines()
        while not self._is_at(words, operators):
            self._pipeline()
            operator = self._operator()
            if operator in ("&&", "||"):
                self._take(operator)
                self._newlines()
                if self._is_at(words, operators):
                    raise Unclear("it cannot be parsed")
            elif operator in (";", "&", "\n"):
                self._take(operator)
                self._newlines()
            elif not self._is_at(words, operators):
                raise Unclear("it cannot be parsed")
        if self._documents and not (words or operators):
            raise Unclear("it holds a here-document without an end")

    def _is_at(self, words: Collection[str], operators: Collection[str]) -> bool:
        operator = self._operator()
        if operator in operators or (operator == "" and self._at >= len(self._text)):
            if operator == "" and (words or operators):
                raise Unclear("it cannot be parsed")
            return True
        return not operator and self._reserved() in words

    def _pipeline(self) -> None:
        before = self._is_piped
        while True:
            while self._reserved() == "!":
                self._take("!")
            self._command()
            operator = self._operator()
            if operator not in ("|", "|&"):
                break
            self._take(operator)
            self._newlines()
            self._is_piped = True
        self._is_piped = before

    def _command(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise Unclear("it holds commands in commands, too deep to follow")
        operator, reserved = self._operator(), self._reserved()
        match operator or reserved:
            case "(" if not self._text.startswith("((", self._at):
                self._subshell()
                self._redirections()
            case "{":
                self._take("{")
                self._block("}")
            case "if":
                self._take("if")
                self._list(("then",))
                self._conditional()
            case "while" | "until" as word:
                self._take(word)
                self._list(("do",))
                self._take("do")
                self._block("done")
            case "for":
                self._for()
            case "case":
                self._case()
            case "[[":
                self._test()
            case "time":
                self._time()
            case "(":
                raise Unclear("it calculates")
            case _ if reserved:
                raise Unclear(f"it holds `{reserved}`")
            case _:
                self._simple_command()
        self._nesting -= 1

    def _block(self, end: str) -> None:
        self._list((end,))
        self._take(end)
        self._redirections()

    def _subshell(self) -> None:
        self._take("(")
        self._list((), (")",))
        self._take(")")

    def _conditional(self) -> None:
        """What follows the condition of an `if`."""
        while True:
            self._take("then")
            self._list(("elif", "else", "fi"))
            if self._reserved() != "elif":
                break
            self._take("elif")
            self._list(("then",))
        if self._reserved() == "else":
            self._take("else")
        self._block("fi")

    def _for(self) -> None:
        self._take("for")
        name = self._next_word()
        if not name.is_plain or not _NAME.fullmatch(name.raw):
            raise Unclear("it holds a `for` of another form")
        self._newlines()
        if self._reserved() == "in":
            self._take("in")
            while self._operator() not in (";", "\n"):
                self._next_word()
        self._on_command([Token(f"{name.raw}=…", f"{name.raw}=…")], False)
        if self._operator() == ";":
            self._take(";")
        self._newlines()
        self._take("do")
        self._block("done")

    def _case(self) -> None:
        if self._substitutions:
            raise Unclear("it holds a `case` in a substitution")
        self._take("case")
        self._next_word()
        self._newlines()
        self._take("in")
        self._newlines()
        while self._reserved() != "esac":
            if self._operator() == "(":
                self._take("(")
            self._next_word()
            while self._operator() == "|":
                self._take("|")
                self._next_word()
            self._take(")")
            self._list(("esac",), _CASE_ENDS)
            if self._operator() in _CASE_ENDS:
                self._take(self._operator())
                self._newlines()
        self._take("esac")
        self._redirections()

    def _test(self) -> None:
        """`[[ … ]]` of plain tests."""
        self._take("[[")
        while True:
            first = self._operand()
            while first.is_plain and first.raw == "!":
                first = self._operand()
            if first.is_plain and _TEST.fullmatch(first.raw):
                if first.raw in _NO_TEST:
                    raise Unclear(f"it holds a test with `{first.raw}`")
                self._operand()
            elif not self._is_at_end_of_test():
                comparison = self._operand()
                if not comparison.is_plain or comparison.raw not in _COMPARISONS:
                    raise Unclear("it holds a test of another form")
                self._operand()
            if not self._is_at_end_of_test():
                raise Unclear("it holds a test of another form")
            if self._operator() not in ("&&", "||"):
                break
            self._take(self._operator())
        self._next_word()
        self._redirections()

    def _is_at_end_of_test(self) -> bool:
        self._blanks()
        return self._operator() in ("&&", "||") or _END_OF_TEST.match(self._text, self._at) is not None

    def _operand(self) -> Token:
        if self._is_at_end_of_test() or self._operator():
            raise Unclear("it holds a test of another form")
        return self._next_word()

    def _time(self) -> None:
        self._take("time")
        self._blanks()
        if self._text.startswith("-", self._at):
            raise Unclear("it holds `time` with an option")
        self._pipeline()

    # Simple commands

    def _simple_command(self) -> None:
        tokens: list[Token] = []
        in_front = True
        while (operator := self._operator()) not in _ENDS or not (operator or self._at >= len(self._text)):
            if operator in ("<", ">") and self._text.startswith("(", self._at + 1):
                tokens.append(self._process_substitution())
                in_front = False
            elif operator == "(":
                return self._function(tokens)
            elif operator:
                self._redirection(operator)
            else:
                token = self._word_or_array() if in_front else self._word()
                if self._is_descriptor(token):
                    continue
                if in_front and _SUBSCRIPT.match(token.raw):
                    raise Unclear("it holds a subscript")
                in_front = in_front and token.assigned is not None
                tokens.append(token)
        if tokens:
            self._on_command(tokens, self._is_piped)
        elif self._nothing_was_there():
            raise Unclear("it cannot be parsed")
        return None

    def _nothing_was_there(self) -> bool:
        before = self._text[: self._at].rstrip(" \t")
        return not before or before[-1] in "\n;&|("

    def _is_descriptor(self, token: Token) -> bool:
        """Whether it is the number in front of a redirection."""
        if not self._text.startswith(("<", ">"), self._at):
            return False
        if re.fullmatch(r"\{\w+\}", token.raw):
            raise Unclear("it holds a redirection with a variable")
        return re.fullmatch(r"[0-9]+", token.raw) is not None

    def _function(self, tokens: list[Token]) -> None:
        name = tokens[0].raw if len(tokens) == 1 and tokens[0].is_plain else ""
        is_next = self._text.startswith(name, self._at - len(name)) and self._text.startswith("()", self._at)
        if not _FUNCTION.fullmatch(name) or not is_next:
            raise Unclear("it holds a parenthesis in a word")
        self._at += 2
        self._newlines()
        if self._operator() != "(" and self._reserved() != "{":
            raise Unclear("it holds a function of another form")
        self._command()

    def _redirections(self) -> None:
        """Those that follow a group."""
        while (operator := self._operator()) not in _ENDS or not (operator or self._at >= len(self._text)):
            if operator:
                self._redirection(operator)
            elif not self._is_descriptor(self._word()):
                raise Unclear("it cannot be parsed")

    def _redirection(self, operator: str) -> None:
        if operator == "(":
            raise Unclear("it cannot be parsed")
        self._take(operator)
        self.has_input = self.has_input or operator.startswith("<")
        if operator in ("<<", "<<-"):
            return self._begin_document(strips=operator == "<<-")
        self._blanks()
        if self._text.startswith(("<(", ">("), self._at):
            self._process_substitution()
            return None
        target = self._next_word()
        if operator == "<<<" or (operator in (">&", "<&") and re.fullmatch(r"[0-9]+-?|-", target.raw)):
            return None
        self._on_redirection(Redirection(target.word, operator not in ("<", "<&")))
        return None

    # Here-documents

    def _begin_document(self, *, strips: bool) -> None:
        self._blanks()
        start = self._at
        found = _DELIMITER.match(self._text, start)
        if self._substitutions or not found or self._text[found.end() : found.end() + 1] not in ("", *_BREAKS):
            raise Unclear("it holds a here-document that is not plain")
        self._at = found.end()
        self._documents.append((found["word"], not found["quote"], strips))

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
                inner = ShellReader(body, self._on_command, self._on_redirection, self._nesting + 1)
                inner._substitutions = 1
                inner._quoted(end="")

    # Words

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
        while self._at < len(text) and (char := text[self._at]) not in _BREAKS:
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
        if self._text.startswith("(", self._at) and self._at > start and not _FUNCTION.fullmatch(text, start, self._at):
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
            return "~" if following == "/" or not following or following in _BREAKS else None
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
        before, self._is_piped = self._is_piped, False
        self._subshell()
        self._is_piped = before
        self._substitutions -= 1

    def _process_substitution(self) -> Token:
        start = self._at
        self._at += 1
        self._substitution()
        if self._at < len(self._text) and self._text[self._at] not in _BREAKS:
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


def _joined(pieces: list[Word]) -> Word:
    known = [piece for piece in pieces if piece is not None]
    return "".join(known) if len(known) == len(pieces) else None
