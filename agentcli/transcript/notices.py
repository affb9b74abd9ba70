"""The notices that the transcript adds to what was said: how an answer ended, and what changed between two messages."""

from agentcli.agent.errors import AgentcliError
from agentcli.agent.messages import AssistantMessage, StopReason, text_of
from agentcli.runtime.events import (
    ModelChangedEvent,
    NoticeEvent,
    SessionInfoChangedEvent,
    ThinkingLevelChangedEvent,
)
from agentcli.transcript.items import NoticeItem, NoticeKind

_AGAIN = "send “go on” to try again"
_LATER = "wait a little, then send “go on”"
_CONNECTION = "check the connection, then send “go on”"
_ADVICE = {
    "auth": "check the key of this provider (agentcli auth), or choose another model: /model",
    "credentials": "set the key it names, then send the prompt again; or choose another model: /model",
    "quota": "top up the account, or choose another model: /model",
    "rate_limit": _LATER,
    "overloaded": _LATER,
    "overflow": "summarise the older part: /compact; or start a new session: /new",
    "model_not_found": "choose another model: /model",
    "network": _CONNECTION,
    "timeout": _CONNECTION,
    "bad_response": _AGAIN,
    "bad_request": "go back to a place before it: /tree; or choose another model: /model",
    "refused": "say it in other words, or choose another model: /model",
}

ChangeEvent = NoticeEvent | ModelChangedEvent | ThinkingLevelChangedEvent | SessionInfoChangedEvent


def outcome_notice(message: AssistantMessage) -> NoticeItem | None:
    """The notice about how an answer ended; None if it ended as usual."""
    match message.stop_reason:
        case StopReason.ERROR:
            hint = _ADVICE.get(message.error_kind or "", _AGAIN)
            return NoticeItem(message.error_message or "the model failed", NoticeKind.ERROR, hint)
        case StopReason.ABORTED:
            return NoticeItem(message.error_message or "aborted")
        case StopReason.LENGTH:
            return NoticeItem("the answer was cut off at the model's output limit", NoticeKind.ERROR, "send “go on”")
        case StopReason.DONE if not text_of(message.content).strip() and not message.tool_calls:
            return NoticeItem("the model gave an empty answer", NoticeKind.ERROR, _AGAIN)
        case StopReason.DONE | StopReason.TOOL_CALLS | None:
            return None


def change_notice(event: ChangeEvent) -> NoticeItem:
    """The notice for a change between two messages."""
    match event:
        case NoticeEvent(text):
            return NoticeItem(text)
        case ModelChangedEvent(provider, model_id, thinking_level):
            return NoticeItem(f"from here on: {provider}/{model_id}, thinking {thinking_level}", subject="model")
        case ThinkingLevelChangedEvent(thinking_level):
            return NoticeItem(f"from here on: thinking {thinking_level}", subject="thinking")
        case SessionInfoChangedEvent(name):
            return NoticeItem(f"this session is called {name}" if name else "this session has no name", subject="name")


def failure_notice(error: AgentcliError) -> NoticeItem:
    """The notice for an error, with its hint."""
    return NoticeItem(error.message, NoticeKind.ERROR, error.hint)
