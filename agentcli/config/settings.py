"""Settings: the schema of `config.toml`. `.agentcli.example.toml` shows every key with its default."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import asdict

from agentcli.agent.models import ThinkingLevel
from agentcli.agent.queues import QueueMode


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """`[providers.NAME]`: a server, new or known. What is not set stays as the catalog has it."""

    label: str | UnsetType = UNSET
    """The name that people read."""
    api: str | UnsetType = UNSET
    """`openai-completions` (any OpenAI-compatible server), `openai-responses`, `anthropic-messages`; in a cloud
    `anthropic-bedrock` or `anthropic-vertex`."""
    base_url: str | UnsetType = UNSET
    """In it, in `api_key` and in the values of `headers`, `$NAME` or `${NAME}` is the value of an environment variable,
    and `$$` a `$`. One that is not set is an error when the provider is used."""
    api_key: str | UnsetType = UNSET
    """The key, or better `$NAME`, the variable that holds it. It weighs more than all other places of a key."""
    api_key_env: str | list[str] | UnsetType = UNSET
    """The environment variable that holds the key, or several, of which the first that is set counts."""
    api_key_command: str | UnsetType = UNSET
    """A shell command that prints the key. It runs when no variable holds one, and its answer is kept in memory."""
    headers: dict[str, str] | UnsetType = UNSET
    """Sent with every request."""
    compat: dict[str, Any] | UnsetType = UNSET
    """What is unusual about the server."""

    def overrides(self) -> dict[str, Any]:
        """The fields that are set, as fields of `agent.models.Provider`."""
        changes = {name: value for name, value in asdict(self).items() if value is not UNSET}
        if isinstance(names := changes.get("api_key_env"), str):
            changes["api_key_env"] = [names]
        return changes


def dotted_key(path: Iterable[str]) -> str:
    """A key as files and commands write it: `retry.max_retries`, `models."mine/m1".max_tokens`."""
    return ".".join(part if re.fullmatch(r"[\w-]+", part) else msgspec.json.encode(part).decode() for part in path)


class RetrySettings(Struct, frozen=True, kw_only=True):
    """`[retry]`: what happens when a model's server fails in a way that may pass."""

    max_retries: int = 3
    """0 tries once only."""
    base_delay: float = 2.0
    """Seconds before the first retry; each further one waits twice as long."""
    max_delay: float = 60.0
    """Seconds. A server that asks for a longer wait is not waited for."""


class CompactionSettings(Struct, frozen=True, kw_only=True):
    """`[compaction]`: what happens when a conversation comes near the end of the model's window."""

    enabled: bool = True
    """Whether older messages are summarised by themselves; without it, only when asked for."""
    reserve_tokens: int = 16_384
    """Tokens of the window that stay free for the answer; never more than a third of the window."""
    keep_recent_tokens: int = 20_000
    """About so many tokens of the latest messages are kept as they are."""


class PermissionMode(StrEnum):
    """What happens to a call that no rule speaks of."""

    ASK = "ask"
    """Looking into the working folder is allowed, everything else is asked."""
    AUTO = "auto"
    """It is allowed."""
    READ_ONLY = "read-only"
    """Only the tools that cannot change anything are there."""


RULE = r"(?P<tool>[\w.-]+|\*)(?:\((?P<pattern>.+)\))?"
"""A rule of permissions, whole: `tool`, or `tool(pattern)`."""


class PermissionSettings(Struct, frozen=True, kw_only=True):
    """`[permissions]`: what the agent may do. Rules are `tool`, `tool(path glob)` or `bash(first words)`.

    Of all rules that speak of a call, `deny` wins over `ask`, and `ask` over `allow`.
    """

    mode: PermissionMode | None = None
    """None asks where a person can answer, and allows elsewhere."""
    allow: list[str] = []
    ask: list[str] = []
    deny: list[str] = []


class SandboxMode(StrEnum):
    """What the commands of the agent may write to."""

    OFF = "off"
    """What the person may."""
    WORKSPACE = "workspace"
    """The working folder and a private `/tmp`."""
    READ_ONLY = "read-only"
    """A private `/tmp`."""


class SandboxSettings(Struct, frozen=True, kw_only=True):
    """`[sandbox]`: the fence around the commands of the agent. If nothing here can be one, agentcli does not start."""

    mode: SandboxMode = SandboxMode.OFF
    network: Literal["off", "on"] | list[str] = "off"
    """Or the hosts that may be reached: names, or `*.name`; another one is asked about."""
    writable: list[str] = []
    """Files and folders that may be written to besides."""
    hidden: list[str] = []
    """Files and folders that cannot be read, on top of `~/.agentcli` and the usual places of keys."""


class Notify(StrEnum):
    """How the person is told that a run of some length has ended."""

    OFF = "off"
    BELL = "bell"
    """The terminal's bell."""
    OSC9 = "osc9"
    """A note of the desktop, in terminals that know OSC 9."""
    BOTH = "both"


class Settings(Struct, frozen=True, kw_only=True):
    model: str | None = None
    """`provider/id`, with an optional `:level`."""
    thinking_level: ThinkingLevel | None = None
    """How much the model is asked to think; None is the model's own default."""
    bash_timeout: float = 300.0
    """Seconds that a command may take unless the model asks for another limit."""
    shell: str | None = None
    """The shell that runs commands; None is bash."""
    environment: dict[str, str] = {}
    """Variables that commands get on top of agentcli's own, of which BASH_ENV and SHELLOPTS do not reach them."""
    keep_keys: list[str] = []
    """Variables with keys (those of providers, and all that are called so) that commands get nevertheless."""
    tools: list[str] | None = None
    """The tools that are on: read, bash, edit, write, grep, find, ls; None is the first four."""
    steering_mode: QueueMode = QueueMode.ONE_AT_A_TIME
    """`one-at-a-time` or `all`: how many steering messages the model gets at once."""
    follow_up_mode: QueueMode = QueueMode.ONE_AT_A_TIME
    first_token_timeout: float = 600.0
    """Seconds that a model's server may take to begin its answer."""
    idle_timeout: float = 300.0
    """Seconds that may pass in an answer before the next piece of it; comments and pings are none."""
    retry: RetrySettings = RetrySettings()
    compaction: CompactionSettings = CompactionSettings()
    providers: dict[str, ProviderSettings] = {}
    permissions: PermissionSettings = PermissionSettings()
    sandbox: SandboxSettings = SandboxSettings()
    models: dict[str, dict[str, Any]] = {}
    """`[models."provider/id"]`: fields of a model that differ from the catalog's, or a model it lacks."""
    theme: str | None = None
    """The app's theme, or two with a slash between: the one that fits the terminal. None is `dark/light`."""
    mouse: bool = True
    """Whether the app takes the mouse. Without it the terminal's own selection and scrolling work."""
    hide_thinking: bool = False
    """Whether what the model thinks is left out of the app's transcript."""
    notify: Notify = Notify.BELL
    notify_after: float = 20.0
    """Seconds that a run must have taken for its end to be told."""
    external_editor: str | None = None
    """The command that edits a draft or the config; None is VISUAL, EDITOR, nano or vi."""
    keys: dict[str, str | list[str]] = {}
    """`[keys]`: an action of the app and its key or keys; an empty list takes its keys away."""
    warnings: list[str] = field(default_factory=list)
    """What was odd about the file; not a key of it."""

    def provider_overrides(self) -> dict[str, dict[str, Any]]:
        return {name: settings.overrides() for name, settings in self.providers.items()}
