"""Settings: the schema of `config.toml`, one declaration a setting (see `declaration`)."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from agentcli.agent.models import ThinkingLevel
from agentcli.agent.queues import QueueMode
from agentcli.config.declaration import setting
from agentcli.config.provider_settings import PROVIDER_EXAMPLES, ProviderSettings


def dotted_key(path: Iterable[str]) -> str:
    """A key as files and commands write it: `retry.max_retries`, `models."mine/m1".max_tokens`."""
    return ".".join(part if re.fullmatch(r"[\w-]+", part) else msgspec.json.encode(part).decode() for part in path)


class RetrySettings(Struct, frozen=True, kw_only=True):
    """`[retry]`."""

    max_retries: Annotated[
        int, setting("How often a failed request is tried again.", ge=0, unit="retries", untrusted="lower")
    ] = 3
    base_delay: Annotated[
        float,
        setting(
            "Seconds before the first retry; each further one waits twice as long.",
            ge=0,
            unit="seconds",
            untrusted="higher",
        ),
    ] = 2.0
    max_delay: Annotated[
        float,
        setting(
            "The longest wait in seconds. A server that asks for a longer one is not waited for.",
            ge=0,
            unit="seconds",
            untrusted="lower",
        ),
    ] = 60.0


class CompactionSettings(Struct, frozen=True, kw_only=True):
    """`[compaction]`."""

    enabled: Annotated[
        bool, setting("Whether this happens automatically; otherwise only when you ask for it.", untrusted="any")
    ] = True
    reserve_tokens: Annotated[
        int,
        setting(
            "Tokens of the window that stay free for the answer; never more than a third of the window.",
            ge=0,
            unit="tokens",
            untrusted="any",
        ),
    ] = 16_384
    keep_recent_tokens: Annotated[
        int,
        setting(
            "About so many tokens of the latest messages are kept as they are.",
            ge=0,
            unit="tokens",
            untrusted="any",
        ),
    ] = 20_000


class PermissionMode(StrEnum):
    """What happens to a call to which no rule applies."""

    ASK = "ask"
    """Reading in the working directory is allowed, everything else is asked."""
    AUTO = "auto"
    """It is allowed."""
    READ_ONLY = "read-only"
    """Only the tools that cannot change anything are there."""


RULE = r"(?P<tool>[\w.-]+|\*)(?:\((?P<pattern>.+)\))?"
"""A rule of permissions, for `re.fullmatch` with `re.DOTALL`: `tool`, or `tool(pattern)`."""

RuleText = Annotated[str, Meta(pattern=r"^([\w.-]+|\*)(\([\s\S]+\))?$(?!\n)")]
"""The same as a regular expression that JSON Schema knows."""

_RULE_FORM = "tool, tool(path) or bash(first words)"


class PermissionSettings(Struct, frozen=True, kw_only=True):
    """`[permissions]`. `deny` takes precedence over `ask`, and `ask` over `allow`."""

    mode: Annotated[
        PermissionMode | None,
        setting(
            'What happens to a call to which no rule applies. `"ask"`, the default in the app, asks about all but '
            'reading in the working directory; `"auto"`, the default of `agentcli run`, allows it; `"read-only"` '
            "leaves the agent only the tools that change nothing.",
            example="ask",
            untrusted="stricter",
            strictness=(PermissionMode.AUTO, PermissionMode.ASK, PermissionMode.READ_ONLY),
        ),
    ] = None
    allow: Annotated[
        list[RuleText],
        setting(
            "What is allowed. It is so in the working directory: not after `cd`, nor with an option that leads "
            "elsewhere, writes or runs something (`--prefix`, `--output`). `bash(=make all)` is just that command.",
            example=["edit(docs/**)", "bash(git status)", "bash(npm run *)", "bash(=make all)"],
            form=_RULE_FORM,
            relative="rules",
            adds_up=True,
        ),
    ] = []
    ask: Annotated[
        list[RuleText],
        setting(
            "What you are asked about.",
            example=["bash(git push)"],
            form=_RULE_FORM,
            relative="rules",
            adds_up=True,
            untrusted="any",
        ),
    ] = []
    deny: Annotated[
        list[RuleText],
        setting(
            "What is refused.",
            example=["read(**/.env)", "bash(rm)"],
            form=_RULE_FORM,
            relative="rules",
            adds_up=True,
            untrusted="any",
        ),
    ] = []


class SandboxMode(StrEnum):
    """What the commands of the agent may write to."""

    OFF = "off"
    """What the user may."""
    WORKSPACE = "workspace"
    """The working directory and a private `/tmp`."""
    READ_ONLY = "read-only"
    """A private `/tmp`."""


class SandboxSettings(Struct, frozen=True, kw_only=True):
    """`[sandbox]`."""

    mode: Annotated[
        SandboxMode,
        setting(
            'What commands can write to: `"workspace"` is the working directory and a private `/tmp`, `"read-only"` '
            "only the latter.",
            untrusted="stricter",
            strictness=tuple(SandboxMode),
        ),
    ] = SandboxMode.OFF
    network: Annotated[
        Literal["off", "on"] | list[str],
        setting(
            'Whether commands reach the network, or a list of hosts such as `["pypi.org", "*.github.com"]`; another '
            "host is asked about.",
            untrusted="off",
        ),
    ] = "off"
    writable: Annotated[
        list[str],
        setting("Files and directories that can be written to as well.", example=["~/.cargo"], relative="path"),
    ] = []
    hidden: Annotated[
        list[str],
        setting(
            "Files and directories that cannot be read, besides `~/.agentcli` and the usual places of keys.",
            example=[".env"],
            relative="path",
        ),
    ] = []


class Notify(StrEnum):
    """How the user is notified that a long run has ended."""

    OFF = "off"
    BELL = "bell"
    """The terminal's bell."""
    OSC9 = "osc9"
    """A desktop notification, in terminals that know OSC 9."""
    BOTH = "both"


class Settings(Struct, frozen=True, kw_only=True):
    """All settings. `warnings` is none: it says what was odd about their sources."""

    model: Annotated[
        str | None,
        setting(
            'The model, as `--model` takes it: `"provider/id"`, with an optional `":level"` (off, minimal, low, '
            "medium, high, xhigh, max). Without one, the first provider whose key is set answers; without any, the "
            "offline pilot.",
            example="anthropic/claude-opus-5-5",
        ),
    ] = None
    thinking_level: Annotated[
        ThinkingLevel | None,
        setting(
            "How much the model is asked to think, where it can. Without it, the model's own default.",
            example="medium",
            untrusted="any",
        ),
    ] = None
    bash_timeout: Annotated[
        float,
        setting(
            "Seconds that a command may take unless the model asks for another limit.",
            gt=0,
            unit="seconds",
            example=300,
        ),
    ] = 300.0
    shell: Annotated[
        str | None,
        setting(
            "The shell that runs commands. Without it, bash.",
            example="/bin/bash",
            is_command=True,
            relative="program",
        ),
    ] = None
    environment: Annotated[
        dict[str, str],
        setting(
            "Variables that commands get in addition to agentcli's own, of which BASH_ENV and SHELLOPTS do not reach "
            "them.",
            example={"CI": "1"},
        ),
    ] = {}
    keep_keys: Annotated[
        list[str],
        setting(
            "Variables with keys of model providers, and all that are named like keys (`*_API_KEY`, `*_TOKEN`, "
            "`*_SECRET`, `*_PASSWORD` …), are taken out of the environment of commands, except for those named here.",
            example=["GH_TOKEN"],
        ),
    ] = []
    tools: Annotated[
        list[str] | None,
        setting(
            "The tools that are on. Without it read, bash, edit and write; there are also grep, find and ls.",
            example=["read", "bash", "edit", "write"],
        ),
    ] = None
    steering_mode: Annotated[
        QueueMode,
        setting(
            'How many of the messages that you sent while the agent worked reach it at once: `"one-at-a-time"` or '
            '`"all"`.',
            untrusted="any",
        ),
    ] = QueueMode.ONE_AT_A_TIME
    follow_up_mode: Annotated[
        QueueMode,
        setting("The same for the messages that wait for the end of a run.", untrusted="any"),
    ] = QueueMode.ONE_AT_A_TIME
    first_token_timeout: Annotated[
        float,
        setting(
            "Seconds that a model's server may take to begin its answer. What takes longer has failed, and is tried "
            "again as `[retry]` says.",
            gt=0,
            unit="seconds",
            example=600,
        ),
    ] = 600.0
    idle_timeout: Annotated[
        float,
        setting(
            "Seconds that may pass in an answer before its next piece; comments and pings that only keep the "
            "connection open are none.",
            gt=0,
            unit="seconds",
            example=300,
        ),
    ] = 300.0
    retry: Annotated[
        RetrySettings, setting("When a model's server fails in a way that may pass, the request is tried again.")
    ] = RetrySettings()
    compaction: Annotated[
        CompactionSettings,
        setting("When a conversation comes near the end of the model's window, its older part becomes a summary."),
    ] = CompactionSettings()
    providers: Annotated[
        dict[str, ProviderSettings],
        setting(
            "A server of your own, or a change to one that agentcli knows. Then: `--model mine/some-model`.",
            toml=PROVIDER_EXAMPLES,
        ),
    ] = {}
    permissions: Annotated[
        PermissionSettings,
        setting(
            "What the agent may do. A rule is a tool, a tool with a path or glob (a relative one starts in the "
            "working directory; `edit` applies to write too, and `read` to grep, find and ls), or `bash` with the "
            "first words of a command; `*` stands for any word. Of the rules that apply to a call, `deny` takes "
            "precedence over `ask`, and `ask` over `allow`. The rules of several files count together. They decide "
            "what is asked; they do not confine a process."
        ),
    ] = PermissionSettings()
    sandbox: Annotated[
        SandboxSettings,
        setting(
            "Confines the agent's commands. In the sandbox they run without being asked about; one that the agent "
            "wants to run outside of it is always asked about. `agentcli doctor` says what works on this machine and "
            "why; if nothing works, agentcli does not start with a sandbox."
        ),
    ] = SandboxSettings()
    models: Annotated[
        dict[str, dict[str, Any]],
        setting(
            "What agentcli should know of a model: a new one, or what differs from the catalog.",
            toml="""\
[models."mine/some-model"]
context_window = 32768
max_tokens = 8192
""",
        ),
    ] = {}
    theme: Annotated[
        str | None,
        setting(
            "The colours of the app: a theme, or two with a slash between, of which the one that fits the terminal "
            "is taken. There are dark, light, high-contrast-dark, high-contrast-light, colorblind-dark, "
            "colorblind-light, ansi and ansi-light (the terminal's own 16 colours), transparent, catppuccin-latte, "
            "catppuccin-mocha, dracula, gruvbox, nord, solarized-dark, solarized-light, tokyo-night, and yours: "
            "`~/.agentcli/themes/NAME.toml`, in the form of those.",
            example="dark/light",
        ),
    ] = None
    mouse: Annotated[
        bool,
        setting(
            "Whether the app takes the mouse. Without it the terminal's (or tmux's) own selection and scrolling work."
        ),
    ] = True
    hide_thinking: Annotated[bool, setting("Whether what the model thinks is left out of the app's transcript.")] = (
        False
    )
    notify: Annotated[
        Notify,
        setting(
            'How the app notifies you that a run has ended: `"bell"`, `"osc9"` (a desktop notification, in terminals '
            'that know it), `"both"` or `"off"`.'
        ),
    ] = Notify.BELL
    notify_after: Annotated[
        float,
        setting("Seconds that a run must have taken for `notify`.", ge=0, unit="seconds", example=20),
    ] = 20.0
    external_editor: Annotated[
        str | None,
        setting(
            "The command that edits a draft, or `config.toml`. Without it VISUAL, EDITOR, nano or vi.",
            example="code --wait",
            is_command=True,
        ),
    ] = None
    keys: Annotated[
        dict[str, str | list[str]],
        setting(
            "The keys of the app: an action, and its key or keys; `[]` takes its keys away.",
            toml='[keys]\nfollow_up = ["alt+enter", "ctrl+q"]\n',
        ),
    ] = {}
    warnings: list[str] = field(default_factory=list)

    def provider_overrides(self) -> dict[str, dict[str, Any]]:
        """The fields that are set for each provider, by its name."""
        return {name: settings.overrides() for name, settings in self.providers.items()}
