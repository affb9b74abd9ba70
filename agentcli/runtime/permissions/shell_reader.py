"""ShellReader: reads shell commands in the forms that it knows to be the same to bash, and gives up on all others.

It knows a small shell: words, quotes, plain expansions, substitutions, redirections, here-documents, lists, pipelines,
groups, `if`, `for`, `while`, `until`, `case`, plain `[[ … ]]` and functions. A form that is not in here is `Unclear`:
better to ask about too much than to read a command in another way than the shell that runs it.
"""

import re
from collections.abc import Callable, Collection

from msgspec import Struct

from agentcli.runtime.permissions.command_words import Word
from agentcli.runtime.permissions.shell_words import BREAKS, FUNCTION, ShellWords, Token, Unclear

MAX_NESTING = 30
"""Groups and substitutions in each other."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_DELIMITER = re.compile(r"(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)", re.A)
_ENDS = frozenset({";", "&", "&&", "||", "|", "|&", "\n", ")", ";;", ";&", ";;&", ""})
_CASE_ENDS = frozenset({";;", ";&", ";;&"})
_TEST = re.compile(r"-[a-zA-Z]")
_END_OF_TEST = re.compile(r"\]\](?=[ \t\n;&|<>()]|\Z)")
_NO_TEST = frozenset({"-v", "-R", "-t", "-o"})
_COMPARISONS = frozenset({"=", "==", "!=", "-ef", "-nt", "-ot"})


class Redirection(Struct, frozen=True):
    target: Word
    writes: bool


class ShellReader(ShellWords):
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
        super().__init__(text)
        self._on_command = on_command
        self._on_redirection = on_redirection
        self._nesting = nesting
        self._is_piped = False
        self.has_input: bool = False
        """Whether a command is given a text or a file: by `<`, a here-document, or a here-string."""

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
        if not FUNCTION.fullmatch(name) or not is_next:
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
        if self._substitutions or not found or self._text[found.end() : found.end() + 1] not in ("", *BREAKS):
            raise Unclear("it holds a here-document that is not plain")
        self._at = found.end()
        self._documents.append((found["word"], not found["quote"], strips))

    # What words hold

    def _read_substitution(self) -> None:
        before, self._is_piped = self._is_piped, False
        self._subshell()
        self._is_piped = before

    def _expanded(self, document: str) -> None:
        inner = ShellReader(document, self._on_command, self._on_redirection, self._nesting + 1)
        inner._substitutions = 1
        inner._quoted(end="")
