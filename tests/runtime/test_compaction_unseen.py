"""What the model has not seen is kept, what does not fit is cut in what is sent, and an overflow comes to an end."""

from itertools import pairwise
from typing import Any

import pytest

from agentcli.agent.messages import ImageContent, ToolResultMessage, Usage, text_of
from agentcli.config.settings import CompactionSettings, RetrySettings, Settings
from agentcli.providers.scripted import Step
from agentcli.runtime.compaction.compactor import MOST_OVERFLOWS
from agentcli.runtime.compaction.cutting import shortened
from agentcli.runtime.events import CompactionStartEvent, NoticeEvent
from agentcli.runtime.prompt_runner import DOES_NOT_FIT
from agentcli.runtime.session_choice import SessionChoice
from agentcli.sessions.compaction.text import fair_share, shorten, shorten_all
from agentcli.sessions.compaction.token_estimate import estimate_tokens
from tests.agent.doubles import call, fail, say
from tests.runtime.conftest import FAST, Make
from tests.runtime.test_compaction import LONG, compactions, ends, is_summary_request, requests, used, with_window
from tests.runtime.test_runtime import hear

LEFT_OUT = "characters left out: the result did not fit into the model's window; ask for a part"


def reads(runtime: Any, sizes: list[int]) -> list[Step]:
    """An answer that reads files of so many characters."""
    for number, size in enumerate(sizes):
        (runtime.cwd / f"f{number}.txt").write_text(("0123456789" * 9 + "\n") * (size // 91))
    return [call("read", f"c{number}", path=f"f{number}.txt") for number in range(len(sizes))]


def results(runtime: Any, request: int = -1) -> list[str]:
    """The tool results in a request."""
    messages = runtime.options.stream_fn.requests[request].messages
    return [text_of(message.content) for message in messages if isinstance(message, ToolResultMessage)]


async def test_a_batch_of_results_that_fits_is_sent_though_it_comes_near_the_window(make: Make):
    runtime = with_window(make(), 48_000)
    runtime.options.stream_fn.answers = [reads(runtime, [42_000] * 3), [say("done")]]
    events = hear(runtime)
    await runtime.prompt("read the three files")
    assert len(requests(runtime)) == 2
    assert [len(result) > 40_000 and LEFT_OUT not in result for result in results(runtime)] == [True] * 3
    assert not [event for event in events if isinstance(event, CompactionStartEvent | NoticeEvent)]


async def test_what_is_near_the_window_after_an_answer_is_compacted_then(make: Make):
    runtime = with_window(make(), 48_000)
    steps = [reads(runtime, [42_000] * 3), [call("read", "again", path="f0.txt")], [say("sum")], [say("done")]]
    runtime.options.stream_fn.answers = steps
    await runtime.prompt("read the three files")
    assert [is_summary_request(request) for request in requests(runtime)] == [False, False, True, False]
    assert len(results(runtime)) == 1 and requests(runtime)[-1][1] == "user: read the three files"


async def test_a_result_larger_than_the_window_is_cut_in_the_request_and_whole_in_the_session(make: Make):
    runtime = with_window(make(), 8_192)
    runtime.options.stream_fn.answers = [reads(runtime, [50_000]), [say("done")]]
    events = hear(runtime)
    await runtime.prompt("read it")
    assert len(requests(runtime)) == 2 and compactions(runtime) == []
    (sent,) = results(runtime)
    assert LEFT_OUT in sent and 15_000 < len(sent) < 30_000
    (kept,) = [
        entry.message
        for entry in runtime.session.find_entries("message")
        if isinstance(entry.message, ToolResultMessage)
    ]
    assert len(text_of(kept.content)) > 45_000 and LEFT_OUT not in text_of(kept.content)
    (notice,) = [event for event in events if isinstance(event, NoticeEvent)]
    assert "1 message of it had to be cut" in notice.text
    await runtime.prompt("and now")
    assert results(runtime) == [] or len(results(runtime)[0]) < 30_000


async def test_results_of_one_batch_share_the_room_and_small_ones_stay_whole(make: Make):
    runtime = with_window(make(), 12_000)
    runtime.options.stream_fn.answers = [reads(runtime, [900, 45_000, 30_000, 45_000]), [say("done")]]
    await runtime.prompt("read them")
    small, *large = results(runtime)
    assert LEFT_OUT not in small
    assert all(LEFT_OUT in result for result in large)
    assert max(map(len, large)) - min(map(len, large)) < 300


async def test_a_prompt_that_the_server_refused_as_too_long_is_cut_in_the_request_and_whole_in_the_session(make: Make):
    runtime = with_window(make([fail("overflow")], [say("I see")], settings=FAST), 8_192)
    await runtime.prompt("first " + "word " * 20_000 + "last")
    ((whole,), (sent,)) = requests(runtime)
    assert len(whole) > 100_000
    assert sent.startswith("user: first") and sent.endswith("last")
    assert "characters left out: the message did not fit into the model's window" in sent
    assert len(text_of(runtime.session.find_entries("message")[0].message.content)) > 100_000


async def test_results_are_cut_also_where_compaction_is_switched_off(make: Make):
    off = Settings(compaction=CompactionSettings(enabled=False))
    runtime = with_window(make(settings=off), 8_192)
    runtime.options.stream_fn.answers = [reads(runtime, [50_000]), [say("done")]]
    await runtime.prompt("read it")
    assert LEFT_OUT in results(runtime)[0] and text_of(runtime.last_message.content) == "done"


async def test_an_overflow_that_no_compaction_helps_is_cut_a_few_times_and_then_told(make: Make):
    runtime = with_window(make(), 32_000)
    runtime.options.stream_fn.answers = [reads(runtime, [50_000]), *([fail("overflow")] for _ in range(9))]
    events = hear(runtime)
    await runtime.prompt("read it")
    lengths = [len(results(runtime, place)[0]) for place in range(1, len(requests(runtime)))]
    assert len(lengths) == 1 + MOST_OVERFLOWS
    assert lengths == sorted(lengths, reverse=True) and lengths[-1] < lengths[0] / 4
    assert runtime.last_message.error_kind == "overflow"
    assert [event.text for event in events if isinstance(event, NoticeEvent)][-1] == DOES_NOT_FIT
    assert not ends(events)


async def test_a_session_goes_on_after_a_prompt_that_did_not_fit(make: Make):
    runtime = with_window(make(), 32_000)
    overflows = [[fail("overflow")] for _ in range(4)]
    runtime.options.stream_fn.answers = [reads(runtime, [50_000]), *overflows, [say("yes")]]
    await runtime.prompt("read it")
    await runtime.prompt("are you there?")
    assert text_of(runtime.last_message.content) == "yes"
    assert len(results(runtime)[0]) < 20_000


async def test_a_server_that_counts_twice_as_much_is_believed(make: Make):
    runtime = make()
    first = [*reads(runtime, [30_000]), Step(usage=Usage(input=1_400, output=10, total_tokens=1_410))]
    second = [call("read", "b", path="f0.txt"), Step(usage=Usage(input=17_000, output=10, total_tokens=17_010))]
    runtime.options.stream_fn.answers = [first, second, [say("sum")], [say("done")]]
    with_window(runtime, 32_000)
    await runtime.prompt("read it")
    assert runtime._window.ratio == pytest.approx(2.0, abs=0.3)
    assert [is_summary_request(request) for request in requests(runtime)] == [False, False, True, False]


async def test_an_overflow_after_a_retry_is_compacted_and_asked_again(make: Make):
    settings = Settings(retry=RetrySettings(base_delay=0.0), compaction=CompactionSettings(keep_recent_tokens=100))
    failed = [[fail("overloaded")], [fail("overflow")]]
    runtime = with_window(make([say(LONG)], *failed, [say("sum")], [say("answer")], settings=settings), 10_000)
    events = hear(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    assert text_of(runtime.last_message.content) == "answer"
    assert [(end.reason, end.will_retry) for end in ends(events)] == [("overflow", True)]


async def test_a_summary_that_is_as_long_as_what_it_stands_for_is_not_used(make: Make):
    answers = [[say(LONG), used(8_500)], [say(LONG * 3)], [say("answer")]]
    settings = Settings(compaction=CompactionSettings(reserve_tokens=2_000, keep_recent_tokens=500))
    runtime = with_window(make(*answers, settings=settings), 10_000)
    events = hear(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    (end,) = ends(events)
    assert "no shorter" in (end.error_message or "") and compactions(runtime) == []
    assert text_of(runtime.last_message.content) == "answer"


async def test_the_events_tell_the_threshold_the_reason_and_what_was_summarised(make: Make):
    settings = Settings(compaction=CompactionSettings(reserve_tokens=2_000, keep_recent_tokens=500))
    runtime = with_window(make([say(LONG), used(8_500)], [say("sum")], [say("answer")], settings=settings), 10_000)
    events = hear(runtime)
    await runtime.prompt(LONG)
    await runtime.prompt("two")
    (start,) = [event for event in events if isinstance(event, CompactionStartEvent)]
    assert start == CompactionStartEvent("threshold", tokens_before=8_500, limit=8_000, message_count=1)
    (end,) = ends(events)
    assert (end.tokens_before, end.message_count) == (8_500, 1) and 0 < end.tokens_after < 8_500
    assert compactions(runtime)[0].details["reason"] == "threshold"


async def test_what_was_cut_is_sent_in_the_same_way_in_the_requests_that_follow(make: Make):
    """Once it is seen it may be cut once more, to make room for some turns; then it stays as it is."""
    runtime = with_window(make(), 16_384)
    again = [[call("bash", f"b{number}", command="true")] for number in range(8)]
    off = [reads(runtime, [50_000, 50_000]), *again, [say("done")]]
    runtime.options.stream_fn.answers = off
    runtime._compactor.settings = CompactionSettings(enabled=False)
    await runtime.prompt("read it")
    sent = [results(runtime, request)[:2] for request in range(1, 10)]
    assert sum(before != after for before, after in pairwise(sent)) <= 1


async def test_after_a_restart_what_did_not_fit_is_cut_again(make: Make):
    runtime = with_window(make(), 8_192)
    runtime.options.stream_fn.answers = [reads(runtime, [50_000]), [say("done")]]
    await runtime.prompt("read it")
    await runtime.close()
    choice = SessionChoice(reference=str(runtime.session.storage.path))
    again = with_window(make([say("sum")], [say("more")], session=choice), 8_192)
    again.options.stream_fn._next = 0
    await again.prompt("go on")
    assert all(len(str(request)) < 40_000 for request in requests(again))


def test_a_fair_share_leaves_to_the_large_what_the_small_do_not_need():
    assert fair_share([10, 100, 100], 110) == 50
    assert fair_share([10, 20], 100) == 20
    assert fair_share([], 100) == 0
    assert fair_share([10, 10], 0) == 0
    assert [len(text) for text in shorten_all(["a" * 10, "b" * 1000, "c" * 1000], 1010, "why")][0:1] == [10]
    assert sum(map(len, shorten_all(["a" * 10, "b" * 1000, "c" * 1000], 1010, "why"))) in range(1_000, 1_011)


@pytest.mark.parametrize("text", ["x" * 5_000, "line\n" * 1_000, "漢字" * 2_500, "é\n" * 2_500])
def test_a_shortened_text_has_its_ends_and_says_what_is_missing(text: str):
    short = shorten(text, 1_000, "why; what to do")
    head, mark, tail = short.partition("… ")
    count, _, rest = tail.partition(" characters left out: why; what to do\n")
    assert mark and text.startswith(head.rstrip("\n")) and text.endswith(rest)
    assert len(text) == int(count.replace(",", "")) + len(head) - 1 + len(rest)
    assert len(short) <= 1_000
    assert shorten(text, len(text), "why") == text


@pytest.mark.parametrize("tokens", [60, 500, 3_000, 6_000])
def test_a_shortened_message_has_about_the_tokens_it_may_have(tokens: int):
    image = ImageContent("aGk=", "image/png")
    for content in (["x" * 40_000], ["漢" * 20_000], ["x" * 4_000, "y" * 40_000], [image] * 8, ["x" * 40_000, image]):
        blocks = [block if isinstance(block, ImageContent) else _text(block) for block in content]
        made = shortened(ToolResultMessage("id", "read", blocks), tokens)
        assert isinstance(made, ToolResultMessage) and made.tool_call_id == "id"
        assert estimate_tokens(made) <= tokens + 200


def _text(text: str) -> Any:
    from agentcli.agent.messages import TextContent

    return TextContent(text)
