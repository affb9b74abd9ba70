"""Exit codes: each way a run can end has its own."""

import pytest

from agentcli.agent import errors
from agentcli.agent.messages import AssistantMessage, StopReason, TextContent
from agentcli.headless.exit_codes import exit_code_of_error, outcome


def ended(reason: StopReason, text: str = "x", kind: str | None = None, error: str | None = None) -> AssistantMessage:
    return AssistantMessage([TextContent(text)], stop_reason=reason, error_kind=kind, error_message=error)


@pytest.mark.parametrize(
    ("message", "code", "says"),
    [
        (ended(StopReason.DONE), 0, None),
        (ended(StopReason.DONE, " \n"), 1, "empty"),
        (ended(StopReason.LENGTH), 1, "output limit"),
        (ended(StopReason.ABORTED, error="stopped"), 1, "stopped"),
        (ended(StopReason.ERROR, kind="auth", error="who?"), 2, "who?"),
        (ended(StopReason.ERROR, kind="credentials", error="no key"), 2, "no key"),
        (ended(StopReason.ERROR, kind="rate_limit", error="later"), 75, "later"),
        (ended(StopReason.ERROR, kind="overloaded", error="later"), 75, "later"),
        (ended(StopReason.ERROR, kind="network", error="gone"), 75, "gone"),
        (ended(StopReason.ERROR, kind="timeout", error="slow"), 75, "slow"),
        (ended(StopReason.ERROR, kind="quota", error="pay"), 1, "pay"),
        (ended(StopReason.ERROR, kind="overflow", error="long"), 1, "long"),
        (ended(StopReason.ERROR, kind="from-the-future", error="odd"), 1, "odd"),
        (ended(StopReason.ERROR, error="odd"), 1, "odd"),
        (None, 1, "no answer"),
    ],
)
def test_how_the_last_answer_ended_decides(message: AssistantMessage | None, code: int, says: str | None):
    told = outcome(message)
    assert told[0] == code
    assert (says in (told[1] or "")) if says else told[1] is None


def test_every_error_of_the_family_has_its_code():
    family = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.AgentcliError)
    ]
    codes = {kind.__name__: int(exit_code_of_error(kind)) for kind in family}
    assert {name for name, code in codes.items() if code == 2} == {
        "UsageError", "AgentBusyError", "ConfigError", "CredentialsError", "AuthError",
    }  # fmt: skip
    assert {name for name, code in codes.items() if code == 75} == {kind.__name__ for kind in family if kind.retryable}
    assert set(codes.values()) == {1, 2, 75}
