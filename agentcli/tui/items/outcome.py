"""How an answer ended, if not well: what went wrong and what the person can do."""

from agentcli.agent.messages import AssistantMessage, StopReason, text_of
from agentcli.tui.items.notice import Notice, NoticeKind

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


def outcome_notice(message: AssistantMessage) -> Notice | None:
    """The notice about how an answer ended; None if it ended as usual."""
    match message.stop_reason:
        case StopReason.ERROR:
            hint = _ADVICE.get(message.error_kind or "", _AGAIN)
            return Notice(message.error_message or "the model failed", NoticeKind.ERROR, hint)
        case StopReason.ABORTED:
            return Notice(message.error_message or "aborted")
        case StopReason.LENGTH:
            return Notice("the answer was cut off at the model's output limit", NoticeKind.ERROR, "send “go on”")
        case StopReason.DONE if not text_of(message.content).strip() and not message.tool_calls:
            return Notice("the model gave an empty answer", NoticeKind.ERROR, _AGAIN)
        case _:
            return None
