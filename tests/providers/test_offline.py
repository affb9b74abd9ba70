"""The offline pilot: which instructions it takes, and how it goes through their steps."""

import pytest

from agentcli.agent.context import Context
from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, user_message
from agentcli.agent.tools import AgentTool
from agentcli.providers.offline import HELP, Call, next_step, plan

TOOLS = [
    AgentTool(name=name, description="", parameters={}, execute=lambda *arguments: None)
    for name in ("bash", "read", "write", "edit")
]


def edit(path: str, old: str, new: str) -> Call:
    return Call("edit", {"path": path, "edits": [{"old_text": old, "new_text": new}], "replace_all": True})


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("what is the content of text.txt file", Call("read", {"path": "text.txt"})),
        ("What is in README.md?", Call("read", {"path": "README.md"})),
        ("what's in the file 'my notes.txt'", Call("read", {"path": "my notes.txt"})),
        ("show me src/a.py", Call("read", {"path": "src/a.py"})),
        ("please read the contents of ./a.b.c.", Call("read", {"path": "./a.b.c"})),
        ("cat Makefile", Call("read", {"path": "Makefile"})),
        ("run ls -la | head -3", Call("bash", {"command": "ls -la | head -3"})),
        ("execute the command `make test`", Call("bash", {"command": "make test"})),
        ("now replace Hello with Bye in text.md", edit("text.md", "Hello", "Bye")),
        ("replace 'a with b' by \"c in d\" in 'my file.txt'", edit("my file.txt", "a with b", "c in d")),
        ("change foo to bar in x.py", edit("x.py", "foo", "bar")),
        ("write hello world to a.txt", Call("write", {"path": "a.txt", "content": "hello world\n"})),
        ("save 'x  y' into a.txt", Call("write", {"path": "a.txt", "content": "x  y\n"})),
        ("create a file b.txt with content one two", Call("write", {"path": "b.txt", "content": "one two\n"})),
        ("list .", Call("bash", {"command": "ls -A -- ."})),
        ("list the files in src", Call("bash", {"command": "ls -A -- src"})),
        ("what files are here?", Call("bash", {"command": "ls -A -- ."})),
        ("list 'my folder'", Call("bash", {"command": "ls -A -- 'my folder'"})),
        ("ls", Call("bash", {"command": "ls -A -- ."})),
    ],
)
def test_an_instruction_is_one_call(instruction: str, expected: Call):
    assert plan(instruction) == [expected]


def test_names_with_blanks_and_quotes_are_safe_in_the_copy():
    (call,) = plan("copy \"it's here.txt\" to 'b; rm -rf x'") or []
    assert call.arguments["command"].startswith("cp -- 'it'\"'\"'s here.txt' 'b; rm -rf x' && ")


def test_steps_are_joined_by_then():
    steps = plan("write Hello to a.txt, then replace Hello with Bye in a.txt and then what is in a.txt")
    assert [step.tool for step in steps or []] == ["write", "edit", "read"]


def test_a_then_inside_a_command_is_the_commands_own():
    assert plan("run if true; then echo yes; fi") == [Call("bash", {"command": "if true; then echo yes; fi"})]


def test_an_instruction_may_stand_under_piped_text():
    assert plan("some text\nthat was piped\n\nread a.txt") == [Call("read", {"path": "a.txt"})]


@pytest.mark.parametrize("instruction", ["", "fix the bug", "write a poem", "read a.txt, then make it better"])
def test_what_is_not_understood_is_not_guessed(instruction: str):
    assert plan(instruction) is None
    assert next_step(Context("", [user_message(instruction)], TOOLS)) == HELP


def talk(instruction: str, *results: ToolResultMessage) -> Context:
    calls = [AssistantMessage([ToolCall(result.tool_call_id, result.tool_name)]) for result in results]
    pairs = [message for pair in zip(calls, results, strict=True) for message in pair]
    return Context("", [user_message("read old.txt"), user_message(instruction), *pairs], TOOLS)


def result(text: str, is_error: bool = False) -> ToolResultMessage:
    return ToolResultMessage("c", "bash", [TextContent(text)], is_error=is_error)


def test_it_takes_one_step_after_the_other_and_reports_at_the_end():
    instruction = "run echo 1 then run echo 2"
    assert next_step(talk(instruction)) == Call("bash", {"command": "echo 1"})
    assert next_step(talk(instruction, result("1"))) == Call("bash", {"command": "echo 2"})
    assert next_step(talk(instruction, result("1"), result("2"))) == "1\n2"


def test_a_step_that_failed_ends_the_work_and_is_told():
    step = next_step(talk("run false then run echo 2", result("exit code 1", is_error=True)))
    assert step == "That did not work. exit code 1"


def test_a_tool_that_is_off_is_named():
    context = Context("", [user_message("run ls")], TOOLS[1:])
    assert "`bash`" in str(next_step(context))


def test_a_write_over_a_file_that_was_not_read_reads_it_and_writes_again():
    instruction = "write Hello to a.txt, then run echo 2"
    write, read = Call("write", {"path": "a.txt", "content": "Hello\n"}), Call("read", {"path": "a.txt"})
    refused = result("a.txt was not written (read it first)", is_error=True)
    assert next_step(talk(instruction)) == write
    assert next_step(talk(instruction, refused)) == read
    assert next_step(talk(instruction, refused, result("old"))) == write
    assert "did not work" in str(next_step(talk(instruction, refused, result("old"), refused)))
    assert next_step(talk(instruction, refused, result("old"), result("done"))) == Call("bash", {"command": "echo 2"})
    assert next_step(talk(instruction, refused, result("old"), result("done"), result("2"))) == "done\n2"
