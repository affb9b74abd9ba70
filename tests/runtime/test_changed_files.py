"""What a run tells of itself when it is over: the files that it changed, and what it took."""

from agentcli.agent.messages import Usage, UsageCost
from agentcli.providers.scripted import Step
from tests.agent.doubles import call, say
from tests.runtime.conftest import Make


async def test_the_files_that_were_changed_are_listed_once_each_in_order(make: Make):
    outside = "../outside.txt"
    runtime = make(
        [call("write", "a", path="sub/b.txt", content="one\n"), call("write", "b", path="a.txt", content="x")],
        [call("edit", "c", path="sub/b.txt", edits=[{"old_text": "one", "new_text": "two"}])],
        [call("edit", "d", path="a.txt", edits=[{"old_text": "not there", "new_text": ""}])],
        [call("write", "e", path=outside, content="x"), call("read", "f", path="a.txt")],
        [call("write", "h", path="sub/../a.txt", content="y")],
        [call("bash", "g", command="touch made.txt")],
        [say("done")],
    )
    await runtime.prompt("go")
    assert runtime.files_changed == ["sub/b.txt", "a.txt", str(runtime.cwd.parent / "outside.txt")]


async def test_a_change_that_failed_is_none(make: Make):
    runtime = make([call("edit", "a", path="nothing.txt", edits=[{"old_text": "a", "new_text": "b"}])], [say("no")])
    await runtime.prompt("go")
    assert runtime.files_changed == []


async def test_the_stats_say_what_was_used_and_how_full_the_window_is(make: Make):
    usage = Usage(input=900, output=100, total_tokens=1000, cost=UsageCost(total=0.5))
    runtime = make([say("done"), Step(usage=usage)])
    await runtime.prompt("go")
    stats = runtime.stats()
    assert (stats.session.user_messages, stats.session.total_tokens, stats.session.cost_total) == (1, 1000, 0.5)
    assert (stats.context_tokens, stats.context_window) == (1000, runtime.agent.state.model.context_window)
