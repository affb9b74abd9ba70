"""Exit codes of a run."""

from enum import IntEnum

from agentcli.agent import errors
from agentcli.agent.errors import AgentcliError, AuthError, ConfigError, SessionError, UsageError
from agentcli.agent.messages import AssistantMessage, StopReason, text_of


class ExitCode(IntEnum):
    DONE = 0
    FAILED = 1
    """The agent or the provider failed."""
    USAGE = 2
    """Usage, configuration or credentials."""
    LIMIT = 3
    """Stopped by a limit that was asked for."""
    TRY_AGAIN = 75
    """Failed, but worth trying again."""


_KINDS = {
    error.kind: error for error in vars(errors).values() if isinstance(error, type) and issubclass(error, AgentcliError)
}


def exit_code_of_error(error: AgentcliError | type[AgentcliError]) -> ExitCode:
    kind = error if isinstance(error, type) else type(error)
    if isinstance(error, SessionError) and error.code not in ("storage", "locked"):
        return ExitCode.USAGE
    if issubclass(kind, UsageError | ConfigError | AuthError):
        return ExitCode.USAGE
    return ExitCode.TRY_AGAIN if kind.retryable else ExitCode.FAILED


def outcome(message: AssistantMessage | None) -> tuple[ExitCode, str | None]:
    """The exit code for how a run's last answer ended, and what to tell the person if it is not 0."""
    if message is None:
        return ExitCode.FAILED, "the model gave no answer"
    match message.stop_reason:
        case StopReason.ERROR:
            kind = _KINDS.get(message.error_kind or "", AgentcliError)
            return exit_code_of_error(kind), message.error_message or "the model failed"
        case StopReason.ABORTED:
            return ExitCode.FAILED, message.error_message or "aborted"
        case StopReason.LENGTH:
            return ExitCode.FAILED, "the answer was cut off at the model's output limit"
        case _ if not text_of(message.content).strip() and not message.tool_calls:
            return ExitCode.FAILED, "the model gave an empty answer"
        case _:
            return ExitCode.DONE, None
