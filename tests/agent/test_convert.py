"""From the messages agentcli keeps to those a model reads; and text at the borders."""

import pytest
from msgspec import Struct

from agentcli.agent.convert import convert_message, convert_to_llm
from agentcli.agent.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    CustomMessage,
    ImageContent,
    TextContent,
    ToolResultMessage,
    UserMessage,
    text_of,
    user_message,
)
from agentcli.agent.surrogates import without_surrogates
from agentcli.agent.text import one_line, printable


def test_what_a_model_understands_passes_as_it_is():
    messages = [user_message("hi"), AssistantMessage([]), ToolResultMessage("a", "read", [])]
    assert all(before is after for before, after in zip(messages, convert_to_llm(messages), strict=True))


def test_a_command_the_person_ran_is_told_with_its_output():
    message = BashExecutionMessage("ls -la", "file1.md\nfile2.md\n", exit_code=0, timestamp=5)
    (converted,) = convert_to_llm([message])
    assert converted == UserMessage([TextContent("Ran `ls -la`\n```\nfile1.md\nfile2.md\n```\n")], 5)


def test_a_command_that_is_not_for_the_model_is_left_out():
    assert convert_to_llm([BashExecutionMessage("ls", "x", exclude_from_context=True)]) == []


def test_the_output_of_a_command_cannot_close_its_fence():
    text = text_of(convert_to_llm([BashExecutionMessage("cat", "a\n````\nb", exit_code=2)])[0].content)
    assert text == "Ran `cat`\n`````\na\n````\nb\n`````\n(exit code 2)\n"


def test_how_a_command_ended_is_said():
    cancelled = BashExecutionMessage("x", "", cancelled=True, truncated=True, full_output_path="/tmp/full")
    assert "(cancelled by the user; output cut; all of it is in /tmp/full)" in text_of(
        convert_to_llm([cancelled])[0].content
    )


@pytest.mark.parametrize("message", [CompactionSummaryMessage("so far"), BranchSummaryMessage("so far", "e1")])
def test_summaries_are_wrapped_so_that_the_model_knows_them(message: object):
    assert "<summary>\nso far\n</summary>" in text_of(convert_to_llm([message])[0].content)


def test_a_custom_message_is_the_persons_text_or_blocks():
    blocks = [TextContent("look"), ImageContent("aGk=", "image/png")]
    converted = convert_to_llm([CustomMessage("note", "some text"), CustomMessage("note", blocks)])
    assert [message.content for message in converted] == [[TextContent("some text")], blocks]


def test_a_new_kind_is_one_registered_function_and_an_unknown_one_is_left_out():
    class Weather(Struct):
        sky: str

    class Unheard(Struct):
        pass

    convert_message.register(Weather, lambda message: user_message(f"the sky is {message.sky}"))
    converted = convert_to_llm([Weather("blue"), Unheard()])
    assert [text_of(message.content) for message in converted] == ["the sky is blue"]


def test_lone_surrogates_are_replaced_and_split_pairs_joined():
    assert without_surrogates("a\ud83d b \ud83d\udca9 💩") == "a\ufffd b 💩 💩"
    assert without_surrogates("plain") == "plain"


def test_nothing_that_a_terminal_obeys_is_printable():
    everything = "".join(map(chr, range(0x2100)))
    cleaned = printable(everything)
    assert "\t" in cleaned
    assert "\n" in cleaned
    forbidden = [
        *range(9),
        *range(0x0B, 0x20),
        *range(0x7F, 0xA0),
        0x2028,
        0x2029,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ]
    assert not set(map(chr, forbidden)) & set(cleaned)
    assert printable("é€") == "é€"


def test_one_line_is_one_line():
    assert one_line("a\n  b\x1b[31m\tc") == "a b[31m c"
    assert one_line("x" * 300, 10) == "x" * 9 + "…"
    assert one_line("\n" * 5000 + "ab" + " " * 5000, 10) == "ab"
    assert one_line("ab" + "\x1b" * 5000 + "c", 10) == "ab…"
