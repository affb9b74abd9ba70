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


class FakeFullDisk(io.StringIO):
    """Takes no more."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def delta(text: str) -> MessageUpdateEvent:
    return MessageUpdateEvent(PartialMessage(Model(id="m", api="x", provider="p")), TextDeltaEvent(0, text))


def output(out: io.StringIO | None = None) -> tuple[TextOutput, io.StringIO, io.StringIO, list[str]]:
    broken: list[str] = []
    streams = out or io.StringIO(), io.StringIO()
    return TextOutput(*streams, on_broken=lambda: broken.append("told")), *streams, broken


def test_text_streams_and_each_message_ends_its_line():
    subject, out, err, _ = output()
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
        (CompactionStartEvent("threshold"), "agentcli: the conversation comes near the model's window; its older part is being summarised\n"),
        (CompactionEndEvent(reason="threshold", error_message="no"), "agentcli: the conversation was not summarised: no\n"),
        (CompactionEndEvent(reason="threshold", summary="short"), ""),
    ],
)  # fmt: skip
def test_what_happens_meanwhile_is_one_line_on_stderr(event: object, says: str):
    subject, out, err, _ = output()
    subject(delta("half"), None)
    subject(event, None)
    assert err.getvalue() == says
    assert out.getvalue() == ("half\n" if says else "half")


def test_a_stream_that_takes_no_more_is_told_once_and_not_written_again():
    subject, _, _, broken = output(FakeFullDisk())
    for _ in range(3):
        subject(delta("x"), None)
    assert broken == ["told"]
    assert subject.broken is not None
