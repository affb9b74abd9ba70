"""How an answer ended, if not well: what went wrong and what the person can do."""

from agentcli.agent.messages import AssistantMessage, StopReason
from agentcli.tui.items.notice import Notice, NoticeKind

_ADVICE = {
    "auth": "check the key of this provider (agentcli config), or choose another model",
    "credentials": "set the key it names, then send the prompt again",
    "quota": "top up the account, or start with another model: agentcli --model PROVIDER/ID",
    "rate_limit": "wait a little, then send “go on”",
    "overloaded": "wait a little, then send “go on”",
    "overflow": "the conversation is too long for this model: start a new one",
    "model_not_found": "choose another model: agentcli --model PROVIDER/ID",
    "network": "check the connection, then send “go on”",
    "timeout": "check the connection, then send “go on”",
    "bad_response": "send “go on” to try again",
}


def outcome_notice(message: AssistantMessage) -> Notice | None:
    match message.stop_reason:
        case StopReason.ERROR:
            hint = _ADVICE.get(message.error_kind or "", "send “go on” to try again")
            return Notice(message.error_message or "the model failed", NoticeKind.ERROR, hint)
        case StopReason.ABORTED:
            return Notice(message.error_message or "aborted")
        case StopReason.LENGTH:
            return Notice("the answer was cut off at the model's output limit", NoticeKind.ERROR, "send “go on”")
        case _:
            return None
