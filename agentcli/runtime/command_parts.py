"""Command parts: what a shell command would run, write and read, as far as that can be known before it runs.

The command is parsed with tree-sitter's grammar of bash (importing it takes 17 ms, so this module is imported with the
first command that has to be judged). What is only known at run time is None in place of a word; what cannot be told
apart at all makes the whole command `unclear`.
"""

import re
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Word = str | None
"""A word as the command gets it; None if only a run would tell (`$x`, `*.py`, `$(…)`)."""

MAX_DEPTH = 5
"""Commands inside of commands: `sh -c "sh -c …"`."""

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "fish"})

_PREFIXES = frozenset({"time", "nohup", "command", "builtin", "exec", "coproc", "timeout", "nice"})
"""Commands that only run another one, which is then judged in their place."""

RUNNERS = frozenset({
    "sudo", "doas", "env", "xargs", "find", "nice", "ionice", "setsid", "stdbuf", "timeout", "time", "watch",
    "parallel", "coproc", "strace", "nohup", "command", "exec", "builtin", "chroot", "unshare", "busybox", "script",
    "flock", "su", "ssh",
})  # fmt: skip
"""Commands that run what follows somewhere among their arguments."""

_KEYWORDS = frozenset({
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
    "in", "{", "}", "!", "[[", "]]",
})  # fmt: skip
"""Words that the grammar now and then takes for commands (`! if …`); bash does not."""

_STRUCTURE = frozenset({
    "program", "list", "pipeline", "subshell", "compound_statement", "if_statement", "elif_clause", "else_clause",
    "while_statement", "case_statement", "case_item", "do_group", "function_definition", "negated_command",
    "test_command", "command_substitution", "process_substitution", "string", "concatenation", "expansion",
    "redirected_statement", "heredoc_redirect", "heredoc_body", "herestring_redirect", "unary_expression",
    "binary_expression", "parenthesized_expression", "translated_string", "array", "command_name",
})  # fmt: skip
"""What only holds other things together."""

_LEAVES = frozenset({
    "word", "raw_string", "string_content", "number", "simple_expansion", "variable_name", "special_variable_name",
    "comment", "heredoc_start", "heredoc_content", "heredoc_end", "test_operator", "file_descriptor", "ansi_c_string",
    "regex", "extglob_pattern", "brace_expression",
})  # fmt: skip

_ARITHMETIC = frozenset({"arithmetic_expansion", "c_style_for_statement", "subscript", "postfix_expression"})
"""Bash evaluates the text of variables in these, commands in it included."""

_EVALUATES = re.compile(r"\$\{!|.*@P\}|\$\{\w+:(?![-+=?])", re.S)
"""Expansions that run the commands in a variable's value: indirect, as a prompt, by an offset."""

_ASSIGNMENT = re.compile(r"\w+\+?=")

_ODD = re.compile(r"[^\S \t\n]|[\x00-\x08\x0e-\x1f\x7f]|\S\\\n")
"""What the grammar and bash may read differently."""

_HARMLESS_NAME = re.compile(r"[a-z][a-z0-9]*")
"""A variable that no program looks for in its environment."""


class CommandPart(Struct, frozen=True):
    """One simple command."""

    words: list[Word]

    @property
    def text(self) -> str:
        return " ".join("…" if word is None else word for word in self.words)


class Redirection(Struct, frozen=True):
    target: Word
    writes: bool


class ParsedCommand(Struct):
    parts: list[CommandPart] = []
    redirections: list[Redirection] = []
    moves: bool = False
    """Whether it changes its working folder, so that nobody knows where relative paths lead."""
    unclear: str | None = None
    """Why the command cannot be judged by its parts."""


def parse_command(text: str) -> ParsedCommand:
    """The parts of a command, those in substitutions, functions, `sh -c` and `eval` included, in their order."""
    parsed = ParsedCommand()
    _Reader(parsed, 0).read(text)
    return parsed


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


class _Reader:
    def __init__(self, parsed: ParsedCommand, depth: int) -> None:
        self.parsed = parsed
        self.depth = depth
        self.source = b""

    def read(self, text: str) -> None:
        if self.depth > MAX_DEPTH:
            return self.give_up("it holds commands in commands, too deep to follow")
        if _ODD.search(text):
            return self.give_up("it holds odd blanks, control characters, or a word that goes on in the next line")
        self.source = text.encode("utf-8", "replace")
        tree = _parser().parse(self.source)
        if tree.root_node.has_error:
            return self.give_up("it cannot be parsed")
        return self.walk(tree.root_node)

    def give_up(self, reason: str) -> None:
        self.parsed.unclear = self.parsed.unclear or reason

    def walk(self, node: "Node") -> None:
        kind = node.type
        match kind:
            case "command":
                return self.command(node)
            case "declaration_command" | "unset_command":
                self.add([_text(node.children[0]), *(_assigned_or_word(child) for child in node.named_children)])
                for child in node.named_children:
                    self.walk_into(child)
                return None
            case "variable_assignment":
                self.assign(node)
            case "for_statement":
                self.loop(node)
            case "file_redirect":
                self.redirect(node)
            case "word" if re.search(r"[\s;&|<>()`\"']", re.sub(r"\\.", "", _text(node), flags=re.S)):
                # The grammar takes a newline before a backslash into the word.
                self.give_up("it holds a word that bash would divide")
            case _ if kind in _ARITHMETIC or (kind == "compound_statement" and _text(node).startswith("((")):
                if _mentions_variable(node):
                    self.give_up("it calculates with variables")
            case "test_command" if _calculates(_text(node)):
                self.give_up("it calculates with variables")
            case "command_substitution" if _text(node).startswith("$(("):
                self.give_up("it holds what may be a calculation")
            case "command_substitution" if re.search(r"^`.*[`\\].*`$", _text(node), re.S):
                self.give_up("it holds backquotes in backquotes")
            case "heredoc_start" if not re.fullmatch(r"\w+|'\w+'|\"\w+\"", _text(node)):
                self.give_up("it holds a here-document whose end is not plain")
            case "expansion" if _EVALUATES.match(_text(node)):
                self.give_up("it evaluates the value of a variable")
            case _ if node.is_named and kind not in _STRUCTURE and kind not in _LEAVES:
                self.give_up(f"it holds a {kind.replace('_', ' ')}")
            case _:
                pass
        return self.walk_into(node)

    def walk_into(self, node: "Node") -> None:
        for child in node.children:
            self.walk(child)

    def command(self, node: "Node") -> None:
        words: list[Word] = []
        end = -1
        for child in node.children:
            if child.type in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                self.walk(child)
                continue
            word = _assigned_or_word(child)
            if child.start_byte == end:
                # The grammar takes 'a'\b for two words; to bash it is one.
                before = words.pop()
                word = None if word is None or before is None else before + word
            words.append(word)
            end = child.end_byte
            # An assignment in front of a command is a word of it.
            (self.walk_into if child.type == "variable_assignment" else self.walk)(child)
        self.add(words)

    def assign(self, node: "Node") -> None:
        name = _text(node).partition("=")[0].rstrip("+")
        self.check_end(node)
        if not _HARMLESS_NAME.fullmatch(name):
            self.add([_assigned_or_word(node)])

    def check_end(self, node: "Node") -> None:
        """See to it that a word ends where the grammar says it does."""
        after = self.source[node.end_byte : node.end_byte + 1]
        if after and after not in b" \t\n;&|<>()`":
            self.give_up("it holds a word that goes on where it should end")

    def loop(self, node: "Node") -> None:
        variable = node.child_by_field_name("variable")
        name = "" if variable is None else _text(variable)
        if not _HARMLESS_NAME.fullmatch(name):
            self.add([f"{name}=…"])

    def redirect(self, node: "Node") -> None:
        operator = next((child.type for child in node.children if not child.is_named), "")
        targets = node.children_by_field_name("destination")
        for target in targets:
            word = _word(target)
            self.check_end(target)
            if operator in (">&", "<&") and word is not None and re.fullmatch(r"\d+-?|-", word):
                continue
            self.parsed.redirections.append(Redirection(word, operator != "<"))

    def add(self, words: list[Word]) -> None:
        assigned, words = _split_assignments(words)
        if not words:
            self.parsed.parts += [CommandPart(assigned)] if assigned else []
            return None
        name = None if words[0] is None else words[0].rpartition("/")[2]
        if name is None:
            return self.give_up("the name of a command is only known when it runs")
        if name in _KEYWORDS:
            return self.give_up(f"it holds `{name}` where it may mean something else")
        inner = _inner_text(name, words) if name in SHELLS or name in ("eval", "trap") else None
        if inner is not None:
            self.add(assigned)
            return _Reader(self.parsed, self.depth + 1).read(inner)
        if name == "eval" or (name == "trap" and None in words) or (name in SHELLS and not _has_script(words)):
            self.give_up(f"{name} runs what is only known later")
        self.parsed.parts.append(CommandPart([*assigned, *words]))
        self.parsed.moves = self.parsed.moves or name in ("cd", "pushd", "popd")
        inside = [place for place, word in enumerate(words) if word and word.rpartition("/")[2] in SHELLS]
        if name in RUNNERS and inside:
            self.add(words[inside[0] :])
        return None


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
    while len(words) > 1 and words[0] in _PREFIXES:
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


def _assigned_or_word(node: "Node") -> Word:
    if node.type != "variable_assignment":
        return _word(node)
    name, _, _ = _text(node).partition("=")
    value = node.child_by_field_name("value")
    return f"{name}={'' if value is None else _word(value) or '…'}"


def _word(node: "Node") -> Word:
    """What bash makes of a word: quotes and backslashes taken away; None if that takes a run."""
    match node.type:
        case "word" | "number" | "variable_name" | "test_operator":
            return _unquoted(_text(node))
        case "raw_string":
            return _text(node)[1:-1]
        case "string":
            return _joined(node, [child for child in node.children if child.type != '"'])
        case "string_content":
            return re.sub(r'\\([$`"\\\n])', lambda found: found[1].replace("\n", ""), _text(node))
        case "concatenation":
            return _joined(node, node.children)
        case "command_name":
            return _word(node.children[0]) if len(node.children) == 1 else None
        case _ if not node.is_named and not re.search(r"[`$'\"\\{}]", _text(node)):
            return _text(node)
        case _:
            return None


def _joined(node: "Node", children: list["Node"]) -> Word:
    # The grammar leaves out blanks between the pieces of a string.
    pieces: list[str] = []
    position = node.start_byte + (1 if node.type == "string" else 0)
    source = node.text or b""
    for child in children:
        if child.start_byte > position:
            pieces.append(source[position - node.start_byte : child.start_byte - node.start_byte].decode())
        piece = _word(child)
        if piece is None:
            return None
        pieces.append(piece)
        position = child.end_byte
    end = node.end_byte - (1 if node.type == "string" else 0)
    if position < end:
        pieces.append(source[position - node.start_byte : end - node.start_byte].decode())
    return "".join(pieces)


def _unquoted(text: str) -> Word:
    """A bare word without its backslashes; None if it stands for file names that only a run finds."""
    if re.search(r"(?<!\\)[*?\[{]", re.sub(r"\\\\", "", text)):
        return None
    return re.sub(r"\\(.|\n)", lambda found: found[1].replace("\n", ""), text, flags=re.S)


def _calculates(test: str) -> bool:
    """Whether `[ … ]` or `[[ … ]]` evaluates the text of a variable: `-v` does, and numbers in double brackets."""
    if re.search(r"\s-v\s", test):
        return True
    if not test.startswith("[[") or not re.search(r"\s-(?:eq|ne|lt|le|gt|ge)\s", test):
        return False
    return bool(re.sub(r"-(?:eq|ne|lt|le|gt|ge)\b|[\d\s()!&|]|\[\[|\]\]", "", test))


def _mentions_variable(node: "Node") -> bool:
    if node.type in ("variable_name", "simple_expansion", "expansion", "subscript"):
        return True
    return any(_mentions_variable(child) for child in node.children)


def _text(node: "Node") -> str:
    return (node.text or b"").decode("utf-8", "replace")
