"""Additions: what the person, the project and extensions bring into a runtime beside its settings.

Instructions, templates, skills, extensions, and the gate of permissions. What is not there is not imported: a plain run
pays for looking at a few folders (1 ms).
"""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentcli.agent.abort import AbortSignal
from agentcli.agent.convert import convert_to_llm
from agentcli.agent.emitter import Emit, EventEmitter, Listener
from agentcli.agent.hooks import AfterToolCall, BeforeToolCallContext, BeforeToolCallResult, ConvertToLlm
from agentcli.agent.streaming import resolved
from agentcli.agent.tools import READ_ONLY_KINDS, AgentTool
from agentcli.config.paths import home, project_folders, shared_skills_folder
from agentcli.config.project import APPEND_NAME, SYSTEM_NAME, Project
from agentcli.config.settings import PermissionMode, Settings
from agentcli.files.reading import Judge, decode, read_bytes
from agentcli.runtime.events import NoticeEvent
from agentcli.runtime.extensions.api import GROUP, ExtensionApi, failure
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.permissions.file_judge import file_judge
from agentcli.runtime.resources.context_files import find_context_files
from agentcli.runtime.resources.system_prompt import PromptPart, prompt_parts
from agentcli.tools.toolset import DEFAULT_TOOL_NAMES, READ_ONLY_TOOL_NAMES, TOOL_NAMES, ToolOptions, added_tool

if TYPE_CHECKING:
    from agentcli.runtime.permissions.gate import PermissionGate
    from agentcli.runtime.resources.slash_commands import SlashCommand, SlashCommands
    from agentcli.tools.sandbox.sandbox import Sandbox

MAX_BYTES = 1 << 20
"""Of the user's `SYSTEM.md` and of a list of entry points."""


class Additions:
    """What is found beside the settings, and the gate that a tool call passes.

    Args:
        cwd: the working directory.
        options: what was asked for, with the settings that hold.
        project: which files of the project are trusted.
        sandbox: what commands run in.
        emit: hands an event to the listeners.
    """

    def __init__(
        self,
        cwd: Path,
        options: RuntimeOptions,
        project: Project,
        sandbox: "Sandbox | None" = None,
        emit: Emit = EventEmitter().emit,
    ) -> None:
        settings = options.settings
        self.api: ExtensionApi = ExtensionApi(cwd)
        self.notices: list[str] = []
        self.mode: PermissionMode = mode_of(options, settings)
        self.sandbox = sandbox
        self._emit = emit
        self._cwd = cwd
        self._options = options
        self._settings = settings
        self._project = project
        self._judge = file_judge(cwd, settings.permissions.deny)
        self._slash = _slash_commands(cwd, self._judge)
        self._gate: PermissionGate | None = None
        self._free_folders: list[Path] = []
        self._judged: dict[str, Path | None] = {}
        self._failed_listeners: set[str] = set()
        self.session_rules: list[tuple[str, str]] = []
        """Verdict and rule: what the person has answered for longer than once."""
        if self._slash is not None:
            self.notices += self._slash.notices
        if options.extensions:
            self._load_extensions()

    def tool_names(self, active: list[str] | None) -> list[str]:
        """The built-in tools that are on; `active` are those that the session says, if it says any."""
        if self.mode == PermissionMode.READ_ONLY:
            return list(READ_ONLY_TOOL_NAMES)
        if active is not None:
            return [name for name in active if name in TOOL_NAMES]
        chosen = self._settings.tools
        if chosen is None:
            return list(DEFAULT_TOOL_NAMES)
        return [name for name in chosen if name in TOOL_NAMES or name not in self.api.tools]

    def added_tools(self, tool_options: ToolOptions, tools: Iterable[AgentTool] | None = None) -> list[AgentTool]:
        """These tools, or those of extensions; in the mode `read-only`, those that declare that they change nothing."""
        only_looks = self.mode == PermissionMode.READ_ONLY
        added = self.api.tools.values() if tools is None else tools
        return [added_tool(tool, tool_options) for tool in added if not only_looks or tool.kind in READ_ONLY_KINDS]

    def prompt_parts(self) -> list[PromptPart]:
        """The parts of the system prompt. What cannot be read is left out and becomes a notice."""
        context_files, notices = find_context_files(home(), self._cwd, self._judge)
        self.notices += notices
        base = self._project.trusted_text(SYSTEM_NAME) or self._own_text("SYSTEM.md")
        appended = [self._own_text("APPEND_SYSTEM.md"), self._project.trusted_text(APPEND_NAME)]
        skills = ""
        if self._slash is not None and self._slash.skills:
            from agentcli.runtime.resources.skills import skills_part

            skills = skills_part(self._slash.skills)
        return prompt_parts(
            self._cwd, context_files, base=base, appended=[text for text in appended if text], skills=skills
        )

    def open_gate(self, spill_folder: Path, judged: dict[str, Path | None]) -> None:
        """Let the permission mode hold from now on.

        Args:
            spill_folder: of kept outputs, which may be read unasked.
            judged: see `PermissionGate`.
        """
        self._judged = judged
        skills = [] if self._slash is None else [skill.path.parent for skill in self._slash.skills]
        self._free_folders = [*skills, spill_folder]
        self.use_mode(self.mode)

    @property
    def convert_to_llm(self) -> ConvertToLlm:
        """What makes the messages that the model reads, those of extensions included."""
        return self.api.convert_to_llm if self.api.converts_messages else convert_to_llm

    async def before_tool_call(
        self, context: BeforeToolCallContext, signal: AbortSignal
    ) -> BeforeToolCallResult | None:
        """The hook of the loop: extensions first, then the permissions."""
        hook = self.api.before_hook
        return None if hook is None else await resolved(hook(context, signal))

    @property
    def after_tool_call(self) -> AfterToolCall | None:
        """The hook of the loop: what extensions make of a result."""
        return self.api.after_hook(self._report)

    def listeners(self) -> list[Listener]:
        """Of extensions. One that raises is reported once."""
        return [self._guarded(extension, listener) for extension, listener in self.api.listeners]

    def use_mode(self, mode: PermissionMode) -> None:
        """From the next call on. The tools stay as they are; those that a mode does not have are blocked."""
        self.mode = mode
        rules = self._settings.permissions
        if self._gate is not None:
            self._gate.permissions.mode = mode
        elif mode != PermissionMode.AUTO or rules.deny or rules.ask or self.sandbox is not None:
            self._make_gate()

    def take_over_rules(self, other: "Additions") -> None:
        """Let the person's answers in another session hold in this one."""
        self.session_rules += other.session_rules
        if self._gate is not None:
            self._gate.permissions.add_all(other.session_rules)

    def answer(self, id: str, verdict: str, remember: str, reason: str | None) -> bool:
        if self._gate is None:
            return False
        from agentcli.runtime.permissions.gate import Remember

        return self._gate.answer(id, allowed=verdict == "allow", remember=Remember(remember), reason=reason)

    def commands(self) -> list["SlashCommand"]:
        """What a person can type after a slash, but for what the screen itself adds."""
        listed = [] if self._slash is None else self._slash.listed()
        if self.api.commands:
            from agentcli.runtime.resources.slash_commands import SlashCommand

            own = self.api.commands.values()
            listed += [SlashCommand(each.name, each.description, each.argument_hint, "extension") for each in own]
        return listed

    def expand(self, text: str) -> str:
        """What a text that calls a template or a skill stands for; any other text is left as it is."""
        return text if self._slash is None else self._slash.expand(text)

    async def run_command(self, text: str) -> str | None:
        """The prompt that a text stands for; None if it calls a command of an extension that has done all there is."""
        name, _, written = text.removeprefix("/").partition(" ")
        command = self.api.commands.get(name) if text.startswith("/") else None
        if command is None:
            return self.expand(text)
        try:
            return await resolved(command.handler(written.strip()))
        except Exception as error:
            await self._report(failure(command.extension, f"in /{name}", error))
            return None

    def _make_gate(self) -> None:
        from agentcli.runtime.permissions.gate import PermissionGate  # 5 ms, for those who let everything run
        from agentcli.runtime.permissions.permissions import Permissions

        permissions = Permissions(
            self.mode,
            self._settings.permissions,
            self._cwd,
            self._free_folders,
            self._settings.shell,
            self.sandbox.policy if self.sandbox is not None else None,
        )
        permissions.add_all(self.session_rules)
        self._gate = gate = PermissionGate(
            permissions,
            self._emit,
            can_ask=self._options.answers_permissions,
            save_rule=_save_rule,
            remember=lambda verdict, rule: self.session_rules.append((verdict, rule)),
            judged=self._judged,
        )
        if self.sandbox is not None and self.sandbox.proxy is not None:
            self.sandbox.proxy.ask = gate.allows_host
        # The last of the hooks: what it lets run is what runs.
        self.api.before_tool_call(self._gate)

    def _load_extensions(self) -> None:
        files = _python_files(home() / "extensions", self.notices)
        packages = _packages_with_extensions(self._cwd, self.notices)
        if files or packages:
            from agentcli.runtime.extensions.load import load_extensions

            self.notices += load_extensions(self.api, files, packages)

    def _own_text(self, name: str) -> str | None:
        path = home() / name
        try:
            text, is_whole = decode(read_bytes(path, MAX_BYTES, self._judge))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.notices.append(f"{path} cannot be read, so it is left out: {error.strerror}")
            return None
        if not is_whole:
            self.notices.append(f"{path} is not UTF-8; what cannot be read in it is replaced")
        return text.strip() or None

    def _guarded(self, extension: str, listener: Any) -> Any:
        """A listener of an extension: one that raises is told once."""

        async def listen(event: Any, signal: Any) -> None:
            try:
                await resolved(listener(event, signal))
            except Exception as error:
                if extension not in self._failed_listeners:
                    self._failed_listeners.add(extension)
                    await self._report(failure(extension, f"on {type(event).__name__}", error))

        return listen

    async def _report(self, text: str) -> None:
        await self._emit(NoticeEvent(text))


def _save_rule(verdict: str, rule: str) -> None:
    from agentcli.config.edit import add_permission_rule  # 24 ms, for who allows something always

    add_permission_rule(verdict, rule)


def mode_of(options: RuntimeOptions, settings: Settings) -> PermissionMode:
    default = PermissionMode.ASK if options.answers_permissions else PermissionMode.AUTO
    return options.permission_mode or settings.permissions.mode or default


def _slash_commands(cwd: Path, judge: Judge) -> "SlashCommands | None":
    """Templates and skills; None if there is no folder of them."""
    prompts, skills = resource_folders(cwd)
    if not prompts and not skills:
        return None
    from agentcli.runtime.resources.slash_commands import SlashCommands

    return SlashCommands(prompts, skills, judge)


def resource_folders(cwd: Path) -> tuple[list[Path], list[Path]]:
    """The folders of templates and of skills that exist, those that count first."""
    projects = project_folders(cwd)
    shared = shared_skills_folder()
    prompts = [home() / "prompts", *(folder / ".agentcli" / "prompts" for folder in projects)]
    skills = [home() / "skills", *([shared] if shared else [])]
    for folder in projects:
        skills += [folder / ".agentcli" / "skills", folder / ".agents" / "skills"]
    # Who works in their home folder has the same folders twice.
    return _existing(prompts), _existing(skills)


def _existing(folders: Iterable[Path]) -> list[Path]:
    # Path.is_dir raises where a parent may not be looked into.
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]  # noqa: PTH112


def _python_files(folder: Path, notices: list[str]) -> list[Path]:
    try:
        files = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        notices.append(f"{folder} cannot be read, so it adds no extensions: {error.strerror}")
        return []
    return [file for file in files if file.suffix == ".py" and not file.name.startswith(("_", "."))]


def _packages_with_extensions(cwd: Path, notices: list[str]) -> Sequence[Path]:
    """The metadata folders of installed packages that name our group of entry points.

    `importlib.metadata` would say the same in 30 ms; this takes 1. The working folder does not count: it may be
    anybody's, and python -m puts it on the path.
    """
    found: list[Path] = []
    here = os.path.realpath(cwd)
    for entry in sys.path:
        if not entry or os.path.realpath(entry) == here or not os.path.isdir(entry):  # noqa: PTH112
            continue
        for name in os.listdir(entry):  # noqa: PTH208 (a Path for each takes twice the time)
            if name.endswith((".dist-info", ".egg-info")):
                path = Path(entry, name, "entry_points.txt")
                try:
                    if f"[{GROUP}]".encode() in read_bytes(path, MAX_BYTES):
                        found.append(path.parent)
                except (FileNotFoundError, NotADirectoryError):
                    continue
                except OSError as error:
                    notices.append(f"{path} cannot be read, so it adds no extensions: {error.strerror}")
    return found
