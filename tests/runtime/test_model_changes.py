"""The model and the thinking level: changed at any time, they count from the next request, and a resume has the last."""

from typing import Any

import pytest
from msgspec.structs import replace

from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import CredentialsError, UsageError
from agentcli.agent.models import Model, ThinkingLevel
from agentcli.config.settings import ProviderSettings, RetrySettings, Settings
from agentcli.providers.scripted import ScriptedStream
from agentcli.runtime.events import ModelChangedEvent, NoticeEvent, ThinkingLevelChangedEvent
from agentcli.runtime.session_choice import SessionChoice
from agentcli.runtime.switching import clone_session, new_session
from agentcli.sessions.entries import ModelChangeEntry, ThinkingLevelChangeEntry
from tests.agent.doubles import call, fail, say, word
from tests.runtime.conftest import Make
from tests.runtime.test_runtime import hear, said
from tests.waiting import until

SETTINGS = Settings(
    model="mine/plain",
    retry=RetrySettings(base_delay=0.01),
    providers={"mine": ProviderSettings(base_url="http://127.0.0.1:9/v1")},
    models={
        "mine/plain": {},
        "mine/thinker": {"reasoning": True},
        "mine/deep": {"reasoning": True, "thinking_levels": {"xhigh": "xhigh", "max": "max"}},
        "mine/eyes": {"input": ["text", "image"]},
    },
)


class FakeModels:
    """Answers for every model, and notes who was asked and how much to think."""

    def __init__(self, *answers: Any) -> None:
        self.script = ScriptedStream(list(answers))
        self.asked: list[tuple[str, str]] = []

    def __call__(self, model: Model, context: Context, options: StreamOptions) -> Any:
        self.asked.append((model.id, str(options.reasoning)))
        return self.script(model, context, options)


def make_with(make: Make, *answers: Any, **options: Any) -> tuple[Any, FakeModels]:
    models = FakeModels(*answers)
    return make(settings=SETTINGS, stream_fn=models, **options), models


def resumed(make: Make, runtime: Any) -> Any:
    return make(settings=SETTINGS, session=SessionChoice(reference=str(runtime.session.storage.path)))


async def test_another_model_answers_from_the_next_prompt_on(make: Make):
    runtime, models = make_with(make, [say("one")], [say("two")])
    events = hear(runtime)
    await runtime.prompt("hi")
    model = runtime.set_model("mine/thinker:high")
    await runtime.prompt("again")
    assert model.full_id == "mine/thinker"
    assert models.asked == [("plain", "off"), ("thinker", "high")]
    assert [e for e in events if isinstance(e, ModelChangedEvent)] == [ModelChangedEvent("mine", "thinker", "high")]
    assert runtime.last_message.model == "thinker"


@pytest.mark.parametrize("moment", ["tool_execution_start a", "turn_end", "turn_start"])
async def test_a_change_during_a_run_counts_from_its_next_request(make: Make, moment: str):
    runtime, models = make_with(make, [call("bash", "a", command="true")], [say("two")])
    seen: list[str] = []

    def listen(event: Any, signal: Any) -> None:
        seen.append(word(event))
        if word(event) == moment and seen.count("turn_start") == (2 if moment == "turn_start" else 1):
            runtime.set_model("mine/thinker:low")

    runtime.subscribe(listen)
    await runtime.prompt("hi")
    assert models.asked == [("plain", "off"), ("thinker", "low")]
    assert said(runtime)[-1] == "assistant: two"
    branch = runtime.session.get_branch()
    kinds = [type(entry).__struct_config__.tag for entry in branch]
    assert kinds[2:] == ["message", "message", "message", "model_change", "thinking_level_change", "message"]


async def test_a_change_during_the_last_answer_is_what_a_resume_has(make: Make):
    runtime, _ = make_with(make, [say("one two three", chunk=4, delay=0.01)])

    def listen(event: Any, signal: Any) -> None:
        if word(event) == "message_update text_delta":
            runtime.set_model("mine/thinker:low")

    runtime.subscribe(listen)
    await runtime.prompt("hi")
    await runtime.close()
    again = resumed(make, runtime)
    assert (again.agent.state.model.id, again.agent.state.thinking_level) == ("thinker", "low")


async def test_a_change_before_an_abort_is_what_a_resume_has(make: Make):
    runtime, _ = make_with(make, [call("bash", "a", command="sleep 30")])
    events = hear(runtime)
    run = runtime.prompt("hi")
    await until(lambda: any(word(event) == "tool_execution_start a" for event in events))
    runtime.set_model("mine/thinker:low")
    runtime.abort()
    await run
    await runtime.close()
    assert resumed(make, runtime).agent.state.model.id == "thinker"


async def test_a_change_while_nothing_runs_is_kept_at_once(make: Make):
    runtime, _ = make_with(make, [say("one")])
    await runtime.prompt("hi")
    runtime.set_model("mine/deep:max")
    runtime.set_thinking_level("low")
    entries = runtime.session.get_branch()[-3:]
    assert [type(entry) for entry in entries] == [ModelChangeEntry, ThinkingLevelChangeEntry, ThinkingLevelChangeEntry]
    await runtime.close()
    assert resumed(make, runtime).agent.state.thinking_level == "low"


async def test_a_change_before_the_first_message_makes_no_file(make: Make):
    runtime, models = make_with(make, [say("one")])
    runtime.set_model("mine/thinker:low")
    assert not runtime.session.storage.path.parent.exists()
    await runtime.prompt("hi")
    assert models.asked == [("thinker", "low")]


async def test_a_retry_asks_the_model_that_was_chosen_meanwhile(make: Make):
    runtime, models = make_with(make, [fail("overloaded")], [say("two")])

    def listen(event: Any, signal: Any) -> None:
        if word(event) == "retry_start":
            runtime.set_model("mine/eyes")

    runtime.subscribe(listen)
    await runtime.prompt("hi")
    assert [id for id, _ in models.asked] == ["plain", "eyes"]
    assert runtime.last_message.model == "eyes"


async def test_the_level_that_was_asked_for_outlives_a_model_that_does_not_think(make: Make):
    runtime, _ = make_with(make)
    runtime.set_model("mine/deep:xhigh")
    assert runtime.set_model("mine/thinker") and runtime.agent.state.thinking_level == "high"
    assert runtime.set_model("mine/plain") and runtime.agent.state.thinking_level == "off"
    assert runtime.set_model("mine/deep") and runtime.agent.state.thinking_level == "xhigh"


async def test_a_thinking_level_is_the_nearest_that_the_model_has(make: Make):
    runtime, _ = make_with(make)
    assert runtime.thinking_levels == ["off"]
    runtime.set_model("mine/thinker:low")
    events = hear(runtime)
    assert runtime.thinking_levels == ["off", "minimal", "low", "medium", "high"]
    assert runtime.set_thinking_level("max") == "high"
    assert runtime.set_thinking_level("high") == "high"
    await until(lambda: len(events) > 1)
    assert events[1:] == [ThinkingLevelChangedEvent("high")]


async def test_what_is_no_level_and_no_model_is_refused_and_changes_nothing(make: Make):
    runtime, _ = make_with(make)
    with pytest.raises(UsageError, match="there is no thinking level `much`"):
        runtime.set_thinking_level("much")
    with pytest.raises(UsageError, match="no model matches"):
        runtime.set_model("nothing-like-it")
    assert runtime.agent.state.model.id == "plain"


async def test_a_model_without_its_key_is_refused_and_the_present_one_stays(
    make: Make, monkeypatch: pytest.MonkeyPatch
):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    runtime, _ = make_with(make)
    with pytest.raises(CredentialsError, match="no key for Anthropic"):
        runtime.set_model("anthropic/claude-opus-5")
    assert runtime.agent.state.model.id == "plain"


async def test_models_that_can_answer_come_first(make: Make, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-long")
    runtime, _ = make_with(make)
    ids = [model.full_id for model in runtime.models()]
    assert sorted(ids) == sorted(model.full_id for model in runtime.catalog.models())
    first_without = next(place for place, id in enumerate(ids) if id.startswith("anthropic/"))
    assert all(place < first_without for place, id in enumerate(ids) if id.startswith(("openai/", "mine/")))


async def test_images_are_read_when_the_model_that_is_chosen_sees(make: Make):
    from PIL import Image

    runtime, _ = make_with(
        make, [call("read", "a", path="x.png")], [say("one")], [call("read", "b", path="x.png")], [say("two")]
    )
    Image.new("RGB", (4, 4)).save(runtime.cwd / "x.png")
    await runtime.prompt("look")
    assert [block.__struct_config__.tag for block in runtime.agent.state.messages[2].content] == ["text"]
    runtime.set_model("mine/eyes")
    await runtime.prompt("look again")
    assert "image" in [block.__struct_config__.tag for block in runtime.agent.state.messages[6].content]


async def test_going_elsewhere_in_the_session_takes_the_model_of_that_place(make: Make):
    runtime, _ = make_with(make, [say("one")], [say("two")])
    await runtime.prompt("hi")
    leaf = runtime.session.leaf_id
    runtime.set_model("mine/thinker:low")
    await runtime.prompt("more")
    events = hear(runtime)
    await runtime.go_to(leaf)
    assert runtime.agent.state.model.id == "plain"
    await until(lambda: ModelChangedEvent("mine", "plain", "off") in events)


async def test_a_name_and_a_label_are_kept_and_told(make: Make):
    from agentcli.runtime.events import SessionInfoChangedEvent

    runtime, _ = make_with(make, [say("one")])
    events = hear(runtime)
    runtime.name_session("  the \n parser ")
    assert not runtime.session.storage.path.parent.exists()
    await runtime.prompt("hi")
    entry = runtime.session.get_branch()[-1].id
    runtime.label(entry, "here")
    assert SessionInfoChangedEvent("the parser") in events
    await runtime.close()
    again = resumed(make, runtime)
    assert (again.session.name, again.session.get_label(entry)) == ("the parser", "here")
    again.name_session(None)
    again.label(entry, None)
    assert (again.session.name, again.session.labels) == (None, {})


async def test_what_was_wanted_comes_back_in_a_new_session_a_resume_and_a_copy(make: Make, closing: list[Any]):
    runtime, _ = make_with(make, [say("one")], [say("two")])
    runtime.set_model("mine/deep:xhigh")
    await runtime.prompt("hi")
    runtime.set_model("mine/plain")
    await runtime.prompt("more")
    assert (runtime.agent.state.thinking_level, runtime.wanted_thinking_level) == ("off", "xhigh")
    levels = [
        each.thinking_level for each in runtime.session.get_branch() if isinstance(each, ThinkingLevelChangeEntry)
    ]
    assert levels == ["xhigh"]
    for go_over in (clone_session, new_session):
        runtime = await go_over(runtime)
        closing.append(runtime)
        assert runtime.agent.state.model.id == "plain"
        assert (runtime.agent.state.thinking_level, runtime.wanted_thinking_level) == ("off", "xhigh")
    runtime.set_model("mine/thinker")
    assert runtime.agent.state.thinking_level == "high"
    runtime.set_model("mine/deep")
    assert runtime.agent.state.thinking_level == "xhigh"


async def test_another_model_for_a_resumed_session_thinks_as_was_wanted_before_and_not_as_the_last_one_could(
    make: Make,
):
    for level in ("medium", "max"):
        settings = replace(SETTINGS, thinking_level=level)
        runtime = make(settings=settings, stream_fn=FakeModels([say("one")]))
        await runtime.prompt("hi")
        await runtime.close()
        choice = SessionChoice(reference=str(runtime.session.storage.path))
        again = make(settings=settings, session=choice, model="mine/deep")
        assert again.agent.state.thinking_level == level
        await again.close()


async def test_going_back_in_the_session_has_what_was_wanted_there(make: Make):
    runtime, _ = make_with(make, [say("one")], [say("two")], [say("three")])
    runtime.set_model("mine/deep:max")
    await runtime.prompt("hi")
    runtime.set_model("mine/plain")
    await runtime.prompt("more")
    leaf = runtime.session.leaf_id
    runtime.set_model("mine/deep:low")
    await runtime.prompt("again")
    await runtime.go_to(leaf)
    assert (runtime.agent.state.model.id, runtime.agent.state.thinking_level) == ("plain", "off")
    runtime.set_model("mine/deep")
    assert runtime.agent.state.thinking_level == "max"


async def test_a_level_that_a_program_sets_in_the_state_is_wanted(make: Make):
    runtime, _ = make_with(make, [say("one")])
    runtime.set_model("mine/deep:max")
    runtime.agent.state.thinking_level = ThinkingLevel.LOW
    assert runtime.wanted_thinking_level == "low"
    runtime.set_model("mine/plain")
    runtime.set_model("mine/deep")
    assert runtime.agent.state.thinking_level == "low"


@pytest.mark.parametrize(("pattern", "thinks"), [("mine/unheard-of:high", True), ("mine/unheard-of", False)])
async def test_a_resume_knows_of_a_model_that_no_list_has_whether_it_thinks(
    make: Make, closing: list[Any], pattern: str, thinks: bool
):
    runtime, _ = make_with(make, [say("one")], model=pattern)
    await runtime.prompt("hi")
    runtime.set_thinking_level("off" if thinks else "high")
    await runtime.prompt("more")
    await runtime.close()
    again = resumed(make, runtime)
    assert again.agent.state.model == runtime.agent.state.model
    assert again.agent.state.model.reasoning is thinks
    assert again.agent.state.thinking_level == "off"
    new = await new_session(again)
    closing.append(new)
    assert new.agent.state.model == runtime.agent.state.model


async def test_a_resume_asks_the_sessions_model_and_not_one_that_its_name_also_fits(
    make: Make, closing: list[Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-long")
    runtime = make([say("one")], [say("two")], model="openai/ gpt-oss-120b")
    assert runtime.agent.state.model.full_id == "openai/gpt-oss-120b"
    await runtime.prompt("hi")
    await runtime.close()
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("GROQ_API_KEY", "gsk-something-long")
    again = make(session=SessionChoice(reference=str(runtime.session.storage.path)))
    assert again.agent.state.model.full_id == "openai/gpt-oss-120b"
    new = await new_session(again)
    closing.append(new)
    assert new.agent.state.model.full_id == "openai/gpt-oss-120b"


async def test_a_model_whose_provider_is_gone_is_said_in_one_line_and_the_settings_decide(make: Make):
    runtime, _ = make_with(make, [say("one")], [say("two")])
    await runtime.prompt("hi")
    place = runtime.session.leaf_id
    runtime.session.append_model_change("gone", "plain")
    runtime.session.append_message(runtime.agent.state.messages[0])
    gone = runtime.session.leaf_id
    await runtime.close()
    again = resumed(make, runtime)
    says = "the session's model gone/plain cannot be used: no model matches `gone/plain`: there is no provider `gone`"
    assert says in again.notices
    assert again.agent.state.model.full_id == "mine/plain"
    await again.go_to(place)
    events = hear(again)
    await again.go_to(gone)
    await until(lambda: NoticeEvent(says) in events)
