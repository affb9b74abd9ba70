"""Permissions: whether a call may run, must be asked, or must not run. They judge; `permission_gate` asks.

The mode says what happens to a call that no rule speaks of. Of all rules that do, deny wins over ask and ask over
allow. A command is judged by each of its parts: the strictest verdict counts. Paths are judged where their links lead.

This is no fence around a process: an allowed program does what it wants, and a search of a folder finds what is in it.
Rules against a command or a path stop mistakes, not somebody who wants around them.
"""

import contextlib
import copy
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.errors import ToolError
from agentcli.agent.tools import PATH_KINDS, READ_ONLY_KINDS, AgentTool, ToolKind, ToolTarget
from agentcli.config.settings import PermissionMode, PermissionSettings
from agentcli.runtime.permissions.rules import Rule, Verdict, is_sensitive, rule_names
from agentcli.tools.files.paths import find_target

if TYPE_CHECKING:
    from agentcli.runtime.permissions.command_parts import CommandPart
    from agentcli.tools.sandbox.policy import SandboxPolicy

_LOOKING_AT_NOTHING = frozenset({"pwd", "echo", "true", "false", "exit", "basename", "dirname", "[", "test", "tr"})
"""Commands that open no file."""

_LOOKING = frozenset({
    "ls", "cat", "head", "tail", "wc", "stat", "du", "cut", "nl", "rev", "tac", "grep", "egrep", "fgrep",
})  # fmt: skip
"""Commands that only look, at the files they name."""

_SEARCHING = frozenset({"grep", "egrep", "fgrep"})
_SEARCHES_MORE = re.compile(r"-[A-Za-z0-9]*[rRdDf]|--[dfr]")
"""Options with which these open files that they do not name."""

_LIKE_BASH = frozenset({"bash", "sh", "dash", "ash"})
_PLAIN_COMMANDS = re.compile(r"(?:[\w./:@+,-][\w./:@%+,=-]*|&&|\|\||[|; \n])*", re.A)
"""What means the same to every shell."""

_FREE_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty"})

_FOLDERS_AT_MOST = 30
"""So many folders that a command goes to or names are looked into for what rules speak of."""


class Judgement(Struct, frozen=True):
    verdict: Verdict
    about: str = ""
    """What was judged, as one line: a command, or a tool and a path."""
    because: str = ""
    """Why it is not simply allowed: the rule, or the mode."""
    rules: list[str] = []
    """Rules that would allow it next time; none if no rule can."""
    place: Path | None = None
    """Of a call of a file tool: the file that was judged, links resolved. None if the name can lead to none."""


ALLOWED = Judgement(Verdict.ALLOW)


class Permissions:
    """Args:
    mode: what holds where no rule speaks.
    settings: the rules.
    cwd: the working folder.
    free_folders: folders outside of it that may be looked into unasked: skills, long outputs.
    shell: the one that runs commands; None is bash.
    sandbox: what the one allows that commands run in; they need not be asked about then, unless a rule says so.

    Raises:
        ConfigError: a rule is none.
    """

    def __init__(
        self,
        mode: PermissionMode,
        settings: PermissionSettings,
        cwd: Path,
        free_folders: Iterable[Path] = (),
        shell: str | None = None,
        sandbox: "SandboxPolicy | None" = None,
    ) -> None:
        self.mode = mode
        self._sandbox = sandbox
        self._other_shell = shell if shell and Path(shell).name not in _LIKE_BASH else None
        self._cwd = cwd
        self._root = Path(os.path.realpath(cwd))
        self._free = [self._root, *(Path(os.path.realpath(folder)) for folder in free_folders)]
        self._rules = [
            Rule(verdict, text, self._root)
            for verdict, texts in (
                (Verdict.DENY, settings.deny), (Verdict.ASK, settings.ask), (Verdict.ALLOW, settings.allow)
            )
            for text in texts
        ]  # fmt: skip

    def add(self, verdict: Verdict, text: str) -> None:
        """A rule for the rest of this session. Raises ConfigError if it is none."""
        self._rules.append(Rule(verdict, text, self._root))

    def add_all(self, rules: Iterable[tuple[str, str]]) -> None:
        """Several: verdict and rule."""
        for verdict, text in rules:
            self.add(Verdict(verdict), text)

    def judge(self, tool: AgentTool, arguments: dict[str, Any]) -> Judgement:
        """Judge a call by what its tool declares: its kind, and which argument contains the path or the command."""
        if self.mode == PermissionMode.READ_ONLY and tool.kind not in READ_ONLY_KINDS:
            return Judgement(Verdict.DENY, tool.name, "the mode is read-only")
        if tool.target is not None and tool.kind == ToolKind.EXECUTE:
            return self._judge_execution(tool.name, tool.target, arguments)
        if tool.target is not None and tool.kind in PATH_KINDS:
            return self._judge_name(tool, tool.target, str(arguments.get(tool.target.argument) or "."))
        default = Verdict.ASK if self.mode == PermissionMode.ASK else Verdict.ALLOW
        speaking = self._speaking(*rule_names(tool.name, tool.kind), bare=True)
        return self._decide(speaking, default, tool.name, [tool.name])

    def judge_host(self, host: str) -> Judgement:
        """Whether commands in the sandbox may reach a host that its settings do not name."""
        speaking = [rule for rule in self._speaking("network") if rule.covers_host(host)]
        return self._decide(speaking, Verdict.ASK, f"network {host}", [f"network({host})"])

    def _judge_execution(self, tool: str, target: ToolTarget, arguments: dict[str, Any]) -> Judgement:
        if target.is_follow_up is not None and target.is_follow_up(arguments):
            return ALLOWED
        text = str(arguments.get(target.argument, ""))
        if self._sandbox is None:
            return self._judge_command(tool, text)
        if target.is_sandboxed is None or not target.is_sandboxed(arguments):
            judgement = self._judge_command(tool, text)
            outside = Judgement(Verdict.ASK, text, "it is to run outside the sandbox")
            return judgement if judgement.verdict == Verdict.DENY else outside
        inside = copy.copy(self)
        inside.mode = PermissionMode.AUTO
        return inside._judge_command(tool, text)

    def _judge_command(self, tool: str, text: str) -> Judgement:
        bare = self._speaking(*rule_names(tool, ToolKind.EXECUTE), bare=True)
        whole = self._decide(bare, Verdict.ALLOW, text, [])
        if whole.verdict == Verdict.DENY or not self._must_parse(bare):
            return whole
        from agentcli.runtime.permissions.command_parts import parse_command

        parsed = parse_command(text)
        bases = self._bases(parsed.folders)
        judgements = [whole, *(self._judge_part(part, bases) for part in parsed.parts)]
        default = Verdict.ASK if not self._allows_all(bare) else Verdict.ALLOW
        for redirection in parsed.redirections:
            target = redirection.target
            judgements.append(self._judge_redirection(target, redirection.writes, default, moves=bool(parsed.folders)))
        if self._other_shell and not _PLAIN_COMMANDS.fullmatch(text):
            parsed.unclear = f"{self._other_shell} may read it in another way than bash"
        if parsed.unclear:
            judgements.append(Judgement(Verdict.ASK, text, f"nobody can say what it runs: {parsed.unclear}"))
        judgement = _strictest(judgements, text)
        # What a command is given may be a program for it: no rule of its words says what it does.
        return replace(judgement, rules=[]) if parsed.has_input else judgement

    def _must_parse(self, bare: Sequence[Rule]) -> bool:
        """Whether the parts of a command matter: not if all is allowed and no rule could object."""
        objections = [rule for rule in self._rules if rule.verdict != Verdict.ALLOW and rule.pattern is not None]
        named = ("*", "bash", "read", "edit", "write")
        return not self._allows_all(bare) or any(rule.tool in named for rule in objections)

    def _allows_all(self, bare: Sequence[Rule]) -> bool:
        """Whether a command is allowed unless a rule objects to a part of it."""
        return self.mode != PermissionMode.ASK or any(rule.verdict == Verdict.ALLOW for rule in bare)

    def _bases(self, folders: Sequence[str | None]) -> list[Path] | None:
        """The folders in which a relative path may start, the working folder first; None if nobody can say."""
        bases = [self._root]
        for folder in folders:
            if folder is None or len(bases) > _FOLDERS_AT_MOST:
                return None
            bases = list(dict.fromkeys([*bases, *(path for base in bases for path in self._places(folder, base))]))
        return bases

    def _judge_part(self, part: "CommandPart", bases: Sequence[Path] | None) -> Judgement:
        words, text = part.words, part.text
        # What is allowed here may do something else in another folder.
        moves = bases is None or len(bases) > 1
        rules = [rule for rule in self._speaking("bash") if not (moves and self._allows_some(rule))]
        speaking = [rule for rule in rules if rule.covers_command(words)]
        default = Verdict.ALLOW if self.mode != PermissionMode.ASK or self._only_looks(words, moves) else Verdict.ASK
        judgement = self._decide(speaking, default, text, [] if moves or part.is_piped else _rules_for(words))
        feared = [rule for rule in rules if rule.verdict != Verdict.ALLOW and rule not in speaking]
        if any(rule.covers_command(words, guess=True) for rule in feared):
            doubt = Judgement(Verdict.ASK, text, "it is only known when it runs whether a rule denies it")
            return _strictest([judgement, doubt], text)
        return _strictest([judgement, *self._objections(words, text, bases)], text)

    @staticmethod
    def _allows_some(rule: Rule) -> bool:
        """Whether it is a rule that allows some commands, not all."""
        return rule.verdict == Verdict.ALLOW and rule.pattern is not None

    def _objections(self, words: Sequence[str | None], text: str, bases: Sequence[Path] | None) -> list[Judgement]:
        """What rules against paths say to the arguments that may be one."""
        rules = [
            rule
            for rule in dict.fromkeys([*self._speaking("read"), *self._speaking("write", "edit")])
            if rule.verdict != Verdict.ALLOW and rule.pattern is not None
        ]
        if not rules or words[0] in _LOOKING_AT_NOTHING:
            return []
        names = _names(words)
        known = [name for name in names if name is not None]
        places = [path for name in known for base in bases or [self._root] for path in self._places(name, base)]
        # `cp a folder`, `tar -C folder a`: names are also those of files in the folders that are named.
        folders = [path for path in places if os.path.isdir(path)]  # noqa: PTH112 (it takes names that are too long)
        places += [
            path
            for folder in dict.fromkeys(folders[:_FOLDERS_AT_MOST])
            for name in known
            for inner in (name, name.rstrip("/").rpartition("/")[2])
            for path in self._places(inner, folder)
        ]
        objections = [
            Judgement(rule.verdict, text, f"the rule {rule.verdict} {rule.text}")
            for rule in rules
            if any(rule.covers_path(path) for path in places)
        ]
        is_unknown = len(known) < len(names) or len(folders) > _FOLDERS_AT_MOST
        if is_unknown or (bases is None and any(not name.startswith(("/", "-")) for name in known)):
            rule = f"{rules[0].verdict} {rules[0].text}"
            objections.append(Judgement(Verdict.ASK, text, f"only a run tells whether the rule {rule} speaks of it"))
        return objections

    def _judge_redirection(self, target: str | None, writes: bool, default: Verdict, *, moves: bool) -> Judgement:
        if target in _FREE_TARGETS:
            return ALLOWED
        tool, kind = ("write", ToolKind.EDIT) if writes else ("read", ToolKind.READ)
        if target is None or (moves and not os.path.isabs(target)):  # noqa: PTH117
            about = f"{tool} {target or 'a file whose name is only known when it runs'}"
            return self._decide(self._speaking(*rule_names(tool, kind), bare=True), default, about, [tool])
        return self._judge_paths(tool, kind, target, self._places(target), default)

    def _judge_name(self, tool: AgentTool, target: ToolTarget, name: str) -> Judgement:
        """A path as the tool itself would find it."""
        try:
            paths = self._places(str(self._find(target, name)))
        except ToolError:
            # It can be no name. The tool will say so, unless a rule speaks of it.
            paths = self._places(name)
        return replace(self._judge_paths(tool.name, tool.kind, name, paths), place=paths[-1] if paths else None)

    def _find(self, target: ToolTarget, name: str) -> Path:
        """The file that the tool would take, or, if there is none yet, that a call before this one may make."""
        if target.find_path is not None:
            with contextlib.suppress(ToolError):
                return target.find_path(name, self._cwd)
        return find_target(name, self._cwd)

    def _judge_paths(
        self, tool: str, kind: ToolKind, name: str, paths: Sequence[Path], default: Verdict = Verdict.ASK
    ) -> Judgement:
        """Args:
        paths: the path without its links resolved, and with; none if it can be no path.
        default: what holds in the mode `ask`.
        """
        resolved = paths[-1:]
        speaking = [
            rule
            for rule in self._speaking(*rule_names(tool, kind))
            if any(rule.covers_path(path) for path in (resolved if rule.verdict == Verdict.ALLOW else paths))
            or rule.pattern is None
        ]
        looks = kind in READ_ONLY_KINDS and all(self._is_free(path) for path in resolved)
        if self.mode != PermissionMode.ASK or (looks and resolved):
            default = Verdict.ALLOW
        if default == Verdict.ALLOW and self._sandbox is not None and not self._is_in_sandbox(kind, resolved):
            default = Verdict.ASK
        shown = str(resolved[0]) if resolved and not self._is_free(resolved[0]) else name
        return self._decide(speaking, default, f"{tool} {shown}", _rules_for_path(tool, kind, resolved, self._root))

    def _is_in_sandbox(self, kind: ToolKind, paths: Sequence[Path]) -> bool:
        """Whether a file tool does what a command in the sandbox could do too, but for its `/tmp`."""
        assert self._sandbox is not None
        may = self._sandbox.may_read if kind in READ_ONLY_KINDS else self._sandbox.may_write
        return all(may(path) for path in paths)

    def _decide(self, speaking: Sequence[Rule], default: Verdict, about: str, suggested: list[str]) -> Judgement:
        for verdict in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW):
            rule = next((rule for rule in speaking if rule.verdict == verdict), None)
            if rule is not None:
                rules = [] if verdict != Verdict.ALLOW else suggested
                return Judgement(verdict, about, f"the rule {verdict} {rule.text}", rules)
        return Judgement(default, about, f"the mode is {self.mode}, and no rule allows it", suggested)

    def _speaking(self, *names: str, bare: bool = False) -> list[Rule]:
        return [rule for rule in self._rules if rule.speaks_of(*names) and not (bare and rule.pattern is not None)]

    def _only_looks(self, words: Sequence[str | None], moves: bool) -> bool:
        """Whether a command only looks at what lies in the working folder."""
        name = words[0]
        if name == "cd":
            return len(words) == 2 and words[1] is not None and self._is_inside(words[1])
        if name in _LOOKING_AT_NOTHING:
            return True
        if name not in _LOOKING:
            return False
        if moves or any(word is None or word.startswith("--files") for word in words):
            return False
        if name in _SEARCHING and any(word is not None and _SEARCHES_MORE.match(word) for word in words[1:]):
            return False
        return all(word == "-" or self._is_inside(word) for word in _names(words) if word is not None)

    def _is_inside(self, name: str) -> bool:
        paths = self._places(name)
        return bool(paths) and self._is_free(paths[-1])

    def _places(self, name: str, base: Path | None = None) -> list[Path]:
        """Where a name leads: as it is written, then with its links resolved. None if it can be no path.

        Args:
            base: where it starts if it is relative; else in the working folder.
        """
        expanded = os.path.expanduser(name) if name.startswith("~") else name  # noqa: PTH111
        if "\0" in expanded:
            return []
        try:
            literal = os.path.normpath(os.path.join(base or self._root, expanded))  # noqa: PTH118
            resolved = os.path.realpath(os.path.join(base or self._root, expanded))  # noqa: PTH118
        except (OSError, ValueError):
            return []
        found = Path(resolved)
        if any(os.path.islink(each) for each in (found, *found.parents)):  # noqa: PTH114 (it takes names that are too long)
            # Links in a circle: it leads nowhere.
            return []
        return [Path(literal), found]

    def _is_free(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in self._free)


def _strictest(judgements: Sequence[Judgement], text: str) -> Judgement:
    for verdict in (Verdict.DENY, Verdict.ASK):
        found = [judgement for judgement in judgements if judgement.verdict == verdict]
        if found:
            about = found[0].about if len(found) == 1 else text
            rules = list(dict.fromkeys(rule for judgement in found for rule in judgement.rules))
            complete = all(judgement.rules for judgement in found)
            return Judgement(verdict, about, found[0].because, rules if complete else [])
    return ALLOWED


def _names(words: Sequence[str | None]) -> list[str | None]:
    """What may be the name of a file among the arguments of a command; None for what is only known when it runs."""
    names: list[str | None] = []
    for word in words[1:]:
        names.append(word)
        if word is not None and "=" in word:
            names.append(word.partition("=")[2])
        if word is not None and word.startswith("-") and not word.startswith("--"):
            # The value of a short option may follow at once: `-f.env`.
            names.append(word[2:])
    return [name for name in names if name != ""]


def _rules_for(words: Sequence[str | None]) -> list[str]:
    """The rule that would allow just this command; none if it cannot be said in one."""
    known = [word for word in words if word is not None]
    return [f"bash(={shlex.join(known)})"] if len(known) == len(words) else []


def _rules_for_path(tool: str, kind: ToolKind, paths: Sequence[Path], root: Path) -> list[str]:
    """A rule that would allow the file's folder; inside of the working folder, all of it."""
    if not paths:
        return []
    path = paths[0]
    name = rule_names(tool, kind)[-1]
    if is_sensitive(path):
        return [f"{name}({_literal(path)})"]
    if path.is_relative_to(root):
        return [f"{name}({_literal(root)}/**)"]
    return (
        [f"{name}({_literal(path)})"]
        if path.is_dir() or kind == ToolKind.READ
        else [f"{name}({_literal(path.parent)}/**)"]
    )


def _literal(path: Path) -> str:
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", str(path))
