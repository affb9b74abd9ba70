"""Text output: the answer on stdout, what happens meanwhile on stderr."""

import io

import pytest

from agentcli.agent.assistant_events import TextDeltaEvent
from agentcli.agent.events import MessageEndEvent, MessageUpdateEvent
from agentcli.agent.messages import AssistantMessage
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.headless.text_output import TextOutput
from agentcli.runtime.events import CompactionEndEvent, CompactionStartEvent, NoticeEvent, RetryStartEvent


def delta(text: str) -> MessageUpdateEvent:
    return MessageUpdateEvent(PartialMessage(Model(id="m", api="x", provider="p")), TextDeltaEvent(0, text))


def output() -> tuple[TextOutput, io.StringIO, io.StringIO]:
    streams = io.StringIO(), io.StringIO()
    return TextOutput(*streams), *streams  # type: ignore[arg-type]


def test_text_streams_and_each_message_ends_its_line():
    subject, out, err = output()
    for event in (
        delta("Hel"),
        delta("lo"),
        MessageEndEvent(AssistantMessage([])),
        delta("more\n"),
        MessageEndEvent(AssistantMessage([])),
    ):
        subject(event, None)
    assert (out.getvalue(), err.getvalue()) == ("Hello\nmore\n", "")


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (NoticeEvent("look\x1b[31m"), "agentcli: look[31m\n"),
        (RetryStartEvent(1, 3, 2.0, "too busy"), "agentcli: too busy; trying again in 2 s (1 of 3); what was printed of the answer is void\n"),
        (CompactionStartEvent("threshold"), ""),
        (CompactionEndEvent(reason="threshold", error_message="no"), "agentcli: the conversation was not summarised: no\n"),
        (CompactionEndEvent(reason="threshold", summary="short", tokens_before=9000, tokens_after=2000, message_count=12), "agentcli: the conversation comes near the model's window: 12 messages summarised, about 9,000 tokens are now about 2,000\n"),
        (CompactionEndEvent(reason="overflow", summary="short", message_count=1), "agentcli: the request was longer than the model's window: 1 message summarised, about 0 tokens are now about 0\n"),
    ],
)  # fmt: skip
def test_what_happens_meanwhile_is_one_line_on_stderr(event: object, says: str):
    subject, out, err = output()
    subject(delta("half"), None)
    subject(event, None)
    assert err.getvalue() == says
    assert out.getvalue() == ("half\n" if says else "half")


def test_without_a_place_for_the_answer_only_what_happens_meanwhile_is_told():
    err = io.StringIO()
    subject = TextOutput(None, err)
    subject(delta("the answer"), None)
    subject(RetryStartEvent(1, 3, 2.0, "too busy"), None)
    assert err.getvalue() == "agentcli: too busy; trying again in 2 s (1 of 3)\n"
