"""An image that a server refuses does not end the conversation, now or after a resume."""

from agentcli.agent.messages import ImageContent, TextContent, user_message
from agentcli.runtime.events import NoticeEvent
from agentcli.runtime.session_choice import SessionChoice
from tests.agent.doubles import fail, say
from tests.runtime.conftest import Make
from tests.runtime.test_runtime import hear, said

PICTURE = ImageContent("aGk=", "image/png")
REFUSED = fail("bad_request", "Could not process image")


def kinds(context: object) -> list[list[str]]:
    return [[type(block).__name__ for block in message.content] for message in context.messages]


async def test_the_request_is_made_again_without_the_image_and_the_session_keeps_it(make: Make):
    runtime = make([REFUSED], [say("I cannot see it")], [say("fine")])
    events = hear(runtime)
    await runtime.prompt("look", [PICTURE])
    assert said(runtime) == ["user: look", "assistant: I cannot see it"]
    assert sum(isinstance(event, NoticeEvent) for event in events) == 1
    requests = runtime.options.stream_fn.requests
    assert kinds(requests[0])[0] == ["TextContent", "ImageContent"]
    assert kinds(requests[1])[0] == ["TextContent", "TextContent"]
    assert runtime.session.build_context().messages[0].content == [TextContent("look"), PICTURE]
    await runtime.prompt("another", [PICTURE])
    assert kinds(requests[2])[-1] == ["TextContent", "ImageContent"]
    assert kinds(requests[2])[0] == ["TextContent", "TextContent"]


async def test_it_stays_left_out_after_a_resume(make: Make):
    first = make([REFUSED], [say("I cannot see it")])
    await first.prompt("look", [PICTURE])
    path = first.session.storage.path
    await first.close()
    again = make([say("one")], [say("two")], session=SessionChoice(reference=str(path)))
    again.options.stream_fn.answers = [[say("on we go")]]
    await again.prompt("more")
    assert kinds(again.options.stream_fn.requests[0])[0] == ["TextContent", "TextContent"]


async def test_a_refusal_that_speaks_of_images_where_none_is_stays_an_error(make: Make):
    runtime = make([REFUSED], [say("unreached")])
    await runtime.prompt("look")
    assert runtime.last_message.error_kind == "bad_request"


async def test_another_refusal_leaves_images_alone(make: Make):
    runtime = make([fail("bad_request", "max_tokens is too large")], [say("unreached")])
    await runtime.prompt(user_message("look", [PICTURE]))
    assert runtime.last_message.error_message == "max_tokens is too large"
