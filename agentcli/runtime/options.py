"""RuntimeOptions: what a runtime is told from outside."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentcli.agent.context import StreamFn
from agentcli.agent.models import ThinkingLevel
from agentcli.config.configuration import Configuration
from agentcli.config.settings import PermissionMode, SandboxMode, Settings
from agentcli.runtime.session_choice import SessionChoice

if TYPE_CHECKING:
    from agentcli.sessions.context import ModelChoice


class RuntimeOptions(Struct, frozen=True, kw_only=True):
    """What a runtime is made with. Without any, it is the current folder, a new session and the default settings."""

    settings: Settings = Settings()
    load: Callable[[Path], Configuration] | None = None
    """Finds the settings when the folder is known, for the folder may be the session's; then `settings` is not used."""
    model: "str | ModelChoice | None" = None
    """As `--model` takes it; or exactly this one, as a session keeps it."""
    thinking_level: ThinkingLevel | None = None
    """What is wanted, if `model` does not say; None is what the session or the settings say."""
    session: SessionChoice = SessionChoice()
    max_turns: int | None = None
    """Of one prompt: answers of the model; None is no limit. This and the next two are looked at after each turn."""
    max_tokens: int | None = None
    """Of one prompt: input, output and cache of all its requests, as the servers count them."""
    max_cost: float | None = None
    """US dollars of one prompt, as far as the prices are known."""
    timeout: float | None = None
    """Seconds of one prompt, its waits and retries included. It is then aborted, in order."""
    stream_fn: StreamFn | None = None
    """Asks the model in place of the providers, for programs that bring their own."""
    permission_mode: PermissionMode | None = None
    """None is what the settings say, else `ask` where a person can answer and `auto` elsewhere."""
    sandbox: SandboxMode | None = None
    """None is what the settings say."""
    answers_permissions: bool = False
    """Whether the caller shows `permission_request` and calls `answer_permission`. Else asking is denying."""
    extensions: bool = True
    """Whether extensions are loaded."""
