"""Two whole runs, event by event: one tool and an answer; two tools in one message and an answer."""

from agentcli.agent.events import AgentEndEvent, ToolExecutionStartEvent, TurnEndEvent
from agentcli.agent.messages import text_of
from tests.agent.doubles import agent, call, record, say, scripted, texts, tool

READ_THEN_ANSWER = [
    "agent_start",
    "turn_start",
    "message_start user",
    "message_end user",
    "message_start assistant",
    "message_update toolcall_start",
    "message_update toolcall_delta",
    "message_update toolcall_end",
    "message_end assistant",
    "tool_execution_start call_1",
    "tool_execution_end call_1",
    "message_start toolResult",
    "message_end toolResult",
    "turn_end",
    "turn_start",
    "message_start assistant",
    "message_update text_start",
    "message_update text_delta",
    "message_update text_end",
    "message_end assistant",
    "turn_end",
    "agent_end",
]


async def test_a_question_about_a_file_is_one_read_and_an_answer():
    stream = scripted([call("read", "call_1", path="text.txt")], [say("It says Hello.")])
    subject = agent(stream, tool("read"))
    words = record(subject)
    ends: list[AgentEndEvent] = []
    subject.subscribe(lambda event, signal: ends.append(event) if isinstance(event, AgentEndEvent) else None)
    await subject.prompt("what is the content of text.txt file")
    assert words == READ_THEN_ANSWER
    assert texts(subject) == [
        "user: what is the content of text.txt file",
        "assistant: ",
        "toolResult: read text.txt",
        "assistant: It says Hello.",
    ]
    assert ends[0].messages == subject.state.messages
    assert [message.role for message in stream.requests[1].messages] == ["user", "assistant", "toolResult"]


async def test_a_copy_is_a_read_and_a_write_in_one_message_and_an_answer():
    stream = scripted(
        [call("read", "call_1", path="text.txt"), call("write", "call_2", path="text.md", content="Hello")],
        [say("I've copied text.txt to text.md.")],
    )
    subject = agent(stream, tool("read"), tool("write"))
    words = record(subject)
    turns: list[TurnEndEvent] = []
    subject.subscribe(lambda event, signal: turns.append(event) if isinstance(event, TurnEndEvent) else None)
    await subject.prompt("copy text.txt to text.md")
    call_words = ["toolcall_start", "toolcall_delta", "toolcall_end"]
    assert words == [
        *READ_THEN_ANSWER[:5],
        *(f"message_update {kind}" for kind in call_words * 2),
        "message_end assistant",
        "tool_execution_start call_1",
        "tool_execution_start call_2",
        "tool_execution_end call_1",
        "tool_execution_end call_2",
        *["message_start toolResult", "message_end toolResult"] * 2,
        "turn_end",
        *READ_THEN_ANSWER[14:],
    ]
    assert [result.tool_call_id for result in turns[0].tool_results] == ["call_1", "call_2"]
    assert turns[1].tool_results == []
    assert text_of(subject.state.messages[-1].content) == "I've copied text.txt to text.md."


async def test_in_sequential_mode_each_call_is_whole_before_the_next_begins():
    stream = scripted([call("read", "call_1"), call("write", "call_2")], [say("done")])
    subject = agent(stream, tool("read"), tool("write"), tool_execution="sequential")
    words = record(subject)
    await subject.prompt("copy")
    results = ["message_start toolResult", "message_end toolResult"]
    first = words.index("tool_execution_start call_1")
    assert words[first : first + 8] == [
        "tool_execution_start call_1",
        "tool_execution_end call_1",
        *results,
        "tool_execution_start call_2",
        "tool_execution_end call_2",
        *results,
    ]


async def test_one_sequential_tool_makes_its_whole_batch_sequential():
    stream = scripted([call("read", "a"), call("deploy", "b")], [say("done")])
    subject = agent(stream, tool("read"), tool("deploy", execution_mode="sequential"))
    words = record(subject)
    await subject.prompt("go")
    assert words.index("message_end toolResult") < words.index("tool_execution_start b")


async def test_a_start_event_shows_the_arguments_as_the_model_wrote_them():
    subject = agent(scripted([call("read", "a", file="x")], [say("ok")]), tool("read"))
    seen: list[dict[str, object]] = []
    subject.subscribe(lambda e, signal: seen.append(e.args) if isinstance(e, ToolExecutionStartEvent) else None)
    await subject.prompt("go")
    assert seen == [{"file": "x"}]
