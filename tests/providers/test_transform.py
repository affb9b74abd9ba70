"""The history as a model may read it: PROV-11, PROV-20, PROV-22 and PROV-25 before any wire API."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.errors import BadRequestError
from agentcli.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user_message,
)
from agentcli.agent.models import Model
from agentcli.providers.history import History
from agentcli.providers.tool_names import CallIds, real_names, wire_name
from agentcli.providers.transform import (
    IMAGE_OMITTED_TEXT,
    NO_OUTPUT_TEXT,
    NO_RESULT_TEXT,
    AssistantTurn,
    ResultsTurn,
    Transform,
    Turn,
    UserTurn,
)
from tests.providers.support import model_of

MODEL = model_of("openai-completions")
PNG = ImageContent("aW1n", "image/png")


def turns(*messages: Message, model: Model = MODEL, **ids: bool | int) -> list[Turn]:
    return Transform(model, CallIds(**ids)).turns_of(list(messages))  # pyright: ignore[reportArgumentType]


def assistant(*content: object, stop: StopReason = StopReason.DONE, model: Model = MODEL) -> AssistantMessage:
    return AssistantMessage(list(content), model.api, model.provider, model.id, stop_reason=stop)  # pyright: ignore


def result(id: str, *content: TextContent | ImageContent | str, is_error: bool = False) -> ToolResultMessage:
    blocks = [TextContent(block) if isinstance(block, str) else block for block in content]
    return ToolResultMessage(id, "read", blocks, is_error=is_error)  # pyright: ignore[reportArgumentType]


def results_of(found: list[Turn]) -> list[tuple[str, str, bool]]:
    return [(r.call_id, r.text, r.is_error) for turn in found if isinstance(turn, ResultsTurn) for r in turn.results]


HI = user_message("hi")


@pytest.mark.parametrize("stop", [StopReason.ERROR, StopReason.ABORTED])
def test_failed_answers_are_left_out_with_their_results(stop: StopReason) -> None:
    found = turns(HI, assistant(TextContent("half"), ToolCall("c", "read"), stop=stop), result("c", "x"), HI)
    assert found == [UserTurn(HI.content), UserTurn(HI.content)]


def test_a_call_without_a_result_gets_one() -> None:
    found = turns(HI, assistant(ToolCall("a", "read"), ToolCall("b", "read")), result("b", "B"), HI)
    assert results_of(found) == [("a", NO_RESULT_TEXT, True), ("b", "B", False)]
    assert [type(turn) for turn in found] == [UserTurn, AssistantTurn, ResultsTurn, UserTurn]
    assert "interrupted" in NO_RESULT_TEXT


def test_a_result_without_a_call_is_left_out() -> None:
    assert turns(HI, result("x", "X"), assistant(TextContent("a"))) == turns(HI, assistant(TextContent("a")))


def test_results_come_in_the_order_of_the_calls_and_before_what_was_said_between() -> None:
    calls = assistant(ToolCall("a", "read"), ToolCall("b", "read"))
    found = turns(HI, calls, result("b", "B"), user_message("steer"), result("a", "A"))
    assert results_of(found) == [("a", "A", False), ("b", "B", False)]
    assert isinstance(found[-1], UserTurn)


def test_ids_that_come_again_are_told_apart() -> None:
    call = ToolCall("call_0", "read")
    found = turns(HI, assistant(call), result("call_0", "1"), assistant(call), result("call_0", "2"))
    ids = [id for id, _, _ in results_of(found)]
    assert ids[0] == "call_0"
    assert ids[1] not in ("", "call_0")
    assert [text for _, text, _ in results_of(found)] == ["1", "2"]


def test_an_id_twice_in_one_message_has_two_results() -> None:
    found = turns(HI, assistant(ToolCall("c", "read"), ToolCall("c", "read")), result("c", "1"), result("c", "2"))
    assert [text for _, text, _ in results_of(found)] == ["1", "2"]
    assert len({id for id, _, _ in results_of(found)}) == 2


def test_a_second_result_for_a_call_is_left_out() -> None:
    assert len(results_of(turns(HI, assistant(ToolCall("c", "read")), result("c", "1"), result("c", "2")))) == 1


BLANK = TextContent(" \n\t")


def test_blank_text_is_never_sent() -> None:
    mixed = UserMessage([BLANK, TextContent("a"), PNG])
    found = turns(
        UserMessage([BLANK]), mixed, assistant(BLANK, ToolCall("c", "read")), result("c", " "), assistant(BLANK)
    )
    assert found == [
        UserTurn([TextContent("a"), PNG]),
        AssistantTurn([ToolCall("c", "read")], True),
        ResultsTurn([found[2].results[0]]),  # pyright: ignore
    ]
    assert results_of(found) == [("c", NO_OUTPUT_TEXT, False)]


def test_a_history_with_nothing_to_send_is_an_error() -> None:
    history = History(MODEL, CallIds(), lambda turn, items: items.append(turn))
    with pytest.raises(BadRequestError, match="nothing to send"):
        history.extend([UserMessage([BLANK]), assistant(stop=StopReason.ABORTED)])


def test_thinking_alone_is_no_message() -> None:
    assert turns(HI, assistant(ThinkingContent("hm", "sig"))) == [UserTurn(HI.content)]


@pytest.mark.parametrize("field", ["id", "provider", "api"])
def test_thinking_and_signatures_are_for_the_model_that_made_them(field: str) -> None:
    call = ToolCall("c", "read", signature="s")
    message = assistant(ThinkingContent("hm", "sig"), TextContent("a", "t"), call)
    (_, own, _) = turns(HI, message, result("c", "x"))
    assert own == AssistantTurn(message.content, True)
    other = model_of(**{"api": "openai-completions", field: "other"})
    (_, theirs, _) = turns(HI, message, result("c", "x"), model=other)
    assert theirs == AssistantTurn([TextContent("a"), ToolCall("c", "read")], False)


def test_images_are_replaced_for_a_model_that_cannot_see() -> None:
    blind = model_of("openai-completions", input=["text"])
    message = UserMessage([TextContent("look"), PNG, PNG])
    found = turns(message, assistant(ToolCall("c", "read")), result("c", PNG), model=blind)
    assert found[0] == UserTurn([TextContent("look"), TextContent(IMAGE_OMITTED_TEXT)])
    assert results_of(found) == [("c", IMAGE_OMITTED_TEXT, False)]
    assert turns(message)[0] == UserTurn(message.content)


ODD_IDS = [
    "functions.bash:0",
    "functions.bash:1",
    "functions_bash_0",
    "call_1|fc_2",
    "call_1_fc_2",
    "a" * 120,
    "",
    "é",
    "a b",
]


@pytest.mark.parametrize(
    ("ids", "pattern"),
    [
        ({"longest": 64}, r"[a-zA-Z0-9_-]{1,64}"),
        ({"longest": 40}, r"[a-zA-Z0-9_-]{1,40}"),
        ({"exactly": 9}, r"[a-zA-Z0-9]{9}"),
    ],
)
def test_ids_are_what_the_server_takes_and_never_the_same(ids: dict[str, int], pattern: str) -> None:
    given = CallIds(**ids)
    made = [given.assign(id) for id in (*ODD_IDS, *ODD_IDS)]
    assert all(re.fullmatch(pattern, id) for id in made)
    assert len(set(made)) == len(made)
    again = CallIds(**ids)
    assert [again.assign(id) for id in ODD_IDS] == made[: len(ODD_IDS)]


def test_a_provider_gets_its_own_ids_back() -> None:
    ids = CallIds(longest=40, keep_kin=True)
    assert ids.assign("functions.bash:0", kin=True) == "functions.bash:0"
    assert ids.assign("functions.bash:0", kin=True) != "functions.bash:0"
    assert CallIds(longest=40, keep_kin=True).assign("functions.bash:0") != "functions.bash:0"


@given(st.lists(st.text(max_size=70), max_size=30), st.sampled_from([{"longest": 64}, {"longest": 40}, {"exactly": 9}]))
def test_no_two_calls_get_one_id(raw: list[str], how: dict[str, int]) -> None:
    ids = CallIds(**how)
    assert len({ids.assign(id) for id in raw}) == len(raw)


ODD_NAMES = ["browser.tabs.open", "browser_tabs_open", "", "ls -la && echo x", "x" * 65, "x" * 66, "é", "a.b", "a/b"]


def test_names_are_what_servers_take_and_never_the_same() -> None:
    made = [wire_name(name) for name in ODD_NAMES]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in made)
    assert len(set(made)) == len(made)
    assert wire_name("browser_tabs_open") == "browser_tabs_open"
    assert real_names(ODD_NAMES)[wire_name("a.b")] == "a.b"
    assert real_names(["read", "bash"]) == {}


def test_a_longer_history_begins_with_the_same_turns() -> None:
    history: list[Message] = []
    for number in range(30):
        history += [
            user_message(f"prompt {number}"),
            assistant(TextContent("a"), ToolCall(f"call.{number % 3}", "read"), ToolCall("", "x y")),
            result("", "r"),
            result(f"call.{number % 3}", "r"),
        ]
    whole = turns(*history)
    for length in range(1, len(history)):
        if not isinstance(history[length], ToolResultMessage):
            part = turns(*history[:length])
            assert whole[: len(part)] == part
