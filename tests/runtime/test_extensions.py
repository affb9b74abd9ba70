"""Extensions: what they add, and that one that fails is told and stops nothing, except before a call."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.messages import CustomMessage, ToolResultMessage, text_of
from agentcli.config.settings import PermissionMode, PermissionSettings, Settings
from agentcli.runtime.events import NoticeEvent
from tests.agent.doubles import call, say
from tests.runtime.conftest import Make

TOOL = """
from agentcli.agent.messages import TextContent
from agentcli.agent.tools import AgentTool, AgentToolResult

def tool(name, text, **declared):
    def execute(id, params, signal, on_update, context):
        return AgentToolResult(content=[TextContent(text)])
    return AgentTool(name=name, description="d", parameters={"type": "object"}, execute=execute, **declared)
"""


def extend(tmp_path: Path, text: str, name: str = "mine") -> None:
    folder = tmp_path / "home" / "extensions"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(text)


def results(runtime: Any) -> list[str]:
    return [text_of(each.content) for each in runtime.agent.state.messages if isinstance(each, ToolResultMessage)]


def hear_notices(runtime: Any) -> list[str]:
    notices: list[str] = []
    runtime.subscribe(lambda event, signal: notices.append(event.text) if isinstance(event, NoticeEvent) else None)
    return notices


async def test_a_tool_is_added_and_one_of_a_known_name_takes_its_place(make: Make, tmp_path: Path):
    extend(
        tmp_path,
        TOOL + "def register(api):\n    api.add_tool(tool('tell', 'told'))\n    api.add_tool(tool('bash', 'mine'))\n",
    )
    runtime = make([call("tell", "a"), call("bash", "b", command="echo theirs")], [say("ok")])
    await runtime.prompt("go")
    assert results(runtime) == ["told", "mine"]
    assert [tool.name for tool in runtime.agent.state.tools] == ["read", "bash", "edit", "write", "tell"]


async def test_a_before_hook_blocks_and_one_that_raises_blocks_too(make: Make, tmp_path: Path):
    extend(
        tmp_path,
        "from agentcli.agent.hooks import BeforeToolCallResult\n"
        "def register(api):\n"
        "    @api.before_tool_call\n"
        "    async def check(context, signal):\n"
        "        if 'a' in context.args['command']:\n"
        "            return BeforeToolCallResult(block=True, reason='no a')\n"
        "        raise ValueError('broken policy')\n",
    )
    runtime = make([call("bash", "1", command="touch a")], [call("bash", "2", command="touch b")], [say("ok")])
    await runtime.prompt("go")
    assert results(runtime)[0] == "no a"
    assert "broken policy" in results(runtime)[1]
    assert not (runtime.cwd / "a").exists() and not (runtime.cwd / "b").exists()


async def test_hooks_of_extensions_and_the_permissions_all_have_to_agree(make: Make, tmp_path: Path):
    extend(tmp_path, "def register(api):\n    api.before_tool_call(lambda context, signal: None)\n")
    runtime = make([call("bash", "1", command="touch a")], [say("ok")], permission_mode=PermissionMode.ASK)
    await runtime.prompt("go")
    assert "nobody is here" in results(runtime)[0]


async def test_an_after_hook_changes_results_and_one_that_raises_is_told(make: Make, tmp_path: Path):
    extend(tmp_path, "def register(api):\n    api.after_tool_call(lambda context, signal: 1 / 0)\n", "a_broken")
    extend(
        tmp_path,
        "from agentcli.agent.hooks import AfterToolCallResult\nfrom agentcli.agent.messages import TextContent\n"
        "def register(api):\n"
        "    api.after_tool_call(lambda context, signal: AfterToolCallResult(content=[TextContent('changed')]))\n",
        "b_good",
    )
    runtime = make([call("bash", "1", command="echo hi")], [say("ok")])
    notices = hear_notices(runtime)
    await runtime.prompt("go")
    assert results(runtime) == ["changed"]
    assert notices == ["the extension a_broken failed after a call: ZeroDivisionError: division by zero"]


async def test_a_listener_hears_everything_and_one_that_raises_is_told_once(make: Make, tmp_path: Path):
    extend(
        tmp_path,
        "from pathlib import Path\n"
        "def register(api):\n"
        "    def listen(event, signal):\n"
        "        with (api.cwd / 'heard').open('a') as file:\n"
        "            print(type(event).__name__, file=file)\n"
        "    api.subscribe(listen)\n"
        "    api.subscribe(lambda event, signal: 1 / 0)\n",
    )
    runtime = make([say("ok")])
    notices = hear_notices(runtime)
    await runtime.prompt("go")
    heard = (runtime.cwd / "heard").read_text().split()
    assert heard[0] == "AgentStartEvent"
    assert heard[-1] == "AgentSettledEvent"
    assert len(notices) == 1
    assert "the extension mine failed on AgentStartEvent" in notices[0]


async def test_a_command_gives_the_prompt_or_does_it_itself(make: Make, tmp_path: Path):
    extend(
        tmp_path,
        "def register(api):\n"
        "    async def ask(arguments):\n        return f'please {arguments}'\n"
        "    api.add_command('ask', ask, 'Ask nicely', 'WHAT')\n"
        "    api.add_command('touch', lambda arguments: (api.cwd / arguments).touch())\n"
        "    def broken(arguments):\n        raise OSError('two\\nlines')\n"
        "    api.add_command('broken', broken)\n",
    )
    runtime = make([say("ok")])
    notices = hear_notices(runtime)
    await runtime.prompt("/touch made")
    await runtime.prompt("/broken")
    assert (runtime.cwd / "made").exists()
    assert runtime.agent.state.messages == []
    assert notices == ["the extension mine failed in /broken: OSError: two lines"]
    await runtime.prompt("/ask  help me ")
    assert text_of(runtime.agent.state.messages[0].content) == "please help me"
    listed = {command.name: command for command in runtime.commands()}
    assert (listed["ask"].description, listed["ask"].argument_hint, listed["ask"].source) == (
        "Ask nicely",
        "WHAT",
        "extension",
    )


async def test_a_kind_of_message_is_what_its_extension_says(make: Make, tmp_path: Path):
    extend(
        tmp_path,
        "from agentcli.agent.messages import user_message\n"
        "def register(api):\n"
        "    api.add_message_kind('weather', lambda message: user_message(f'It is {message.content}.'))\n"
        "    api.add_message_kind('note', lambda message: None)\n",
    )
    runtime = make([say("ok")])
    kinds = [CustomMessage("weather", "sunny"), CustomMessage("note", "unread"), CustomMessage("other", "as it is")]
    await runtime.prompt(kinds)
    sent = runtime.options.stream_fn.requests[0].messages
    assert [text_of(message.content) for message in sent] == ["It is sunny.", "as it is"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def register(api:\n", "SyntaxError"),
        ("import no_such_module\n", "ModuleNotFoundError"),
        ("def register(api):\n    raise ValueError('no luck')\n", "no luck"),
        ("register = 5\n", "no function register"),
        ("", "no function register"),
        ("import sys\nsys.exit(3)\n", "SystemExit"),
        ("def register(api):\n    api.nope()\n", "AttributeError"),
    ],
)
async def test_an_extension_that_cannot_be_loaded_is_told_and_the_others_work(
    make: Make, tmp_path: Path, text: str, says: str
):
    extend(tmp_path, text, "a_broken")
    extend(tmp_path, TOOL + "def register(api):\n    api.add_tool(tool('tell', 'told'))\n", "b_good")
    extend(tmp_path, "1 / 0\n", "_helper")
    runtime = make([call("tell", "a")], [say("ok")])
    await runtime.prompt("go")
    assert results(runtime) == ["told"]
    assert len(runtime.notices) - sum("pilot" in line for line in runtime.notices) == 1
    assert "the extension a_broken failed to load" in runtime.notices[0]
    assert says in runtime.notices[0]


async def test_two_commands_of_one_name_are_told(make: Make, tmp_path: Path):
    for name in ("one", "two"):
        extend(tmp_path, "def register(api):\n    api.add_command('x', lambda arguments: None)\n", name)
    assert "there is a command /x of one already" in make([say("ok")]).notices[0]


async def test_an_installed_package_adds_by_its_entry_point(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    site = tmp_path / "site"
    (site / "added-1.0.dist-info").mkdir(parents=True)
    (site / "added-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (site / "added-1.0.dist-info" / "entry_points.txt").write_text(
        "[agentcli.extensions]\nadded = added_module:start\n"
    )
    (site / "added_module.py").write_text(TOOL + "def start(api):\n    api.add_tool(tool('tell', 'told'))\n")
    monkeypatch.syspath_prepend(str(site))
    runtime = make([call("tell", "a")], [say("ok")])
    await runtime.prompt("go")
    assert results(runtime) == ["told"]


async def test_packages_in_the_working_folder_add_nothing(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "work"
    (folder / "evil-1.0.dist-info").mkdir()
    (folder / "evil-1.0.dist-info" / "entry_points.txt").write_text("[agentcli.extensions]\nevil = evil:register\n")
    (folder / "evil.py").write_text("from pathlib import Path\nPath('PWNED').touch()\ndef register(api): pass\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder)
    assert not [line for line in make([say("ok")]).notices if "evil" in line]
    assert not (folder / "PWNED").exists()


async def test_a_program_may_leave_them_out(make: Make, tmp_path: Path):
    extend(tmp_path, "1 / 0\n")
    assert not [line for line in make([say("ok")], extensions=False).notices if "mine" in line]


async def test_the_settings_choose_the_tools(make: Make):
    runtime = make([say("ok")], settings=Settings(tools=["read", "find"]))
    assert [tool.name for tool in runtime.agent.state.tools] == ["read", "find"]


async def test_a_run_that_may_only_read_has_those_tools_of_an_extension_that_declare_to_only_read(
    make: Make, tmp_path: Path
):
    extend(
        tmp_path,
        f"{TOOL}\n"
        "def register(api):\n"
        "    api.add_tool(tool('tell', 'told'))\n"
        "    api.add_tool(tool('read', 'mine'))\n"
        "    api.add_tool(tool('look', 'seen', kind='read'))\n",
    )
    runtime = make([call("tell", "a"), call("look", "b")], [say("ok")], permission_mode=PermissionMode.READ_ONLY)
    await runtime.prompt("go")
    told, seen = results(runtime)
    assert "There is no tool named 'tell'" in told
    assert seen == "seen"
    assert runtime.agent.state.tools[0].description != "d"


async def test_a_tool_that_takes_the_name_of_a_built_in_one_is_judged_as_that_one(make: Make, tmp_path: Path):
    extend(tmp_path, TOOL + "def register(api):\n    api.add_tool(tool('read', 'mine'))\n")
    runtime = make(
        [call("read", "a", path=".env")],
        [say("ok")],
        settings=Settings(permissions=PermissionSettings(deny=["read(.env)"])),
    )
    await runtime.prompt("go")
    assert results(runtime)[0].startswith("Not allowed: read .env")


def test_neither_a_module_nor_its_compiled_file_can_block_a_start(make: Make, tmp_path: Path):
    extend(tmp_path, "def register(api):\n    api.add_command('there', lambda text: text)\n", "good")
    folder = tmp_path / "home" / "extensions"
    (folder / "__pycache__").mkdir()
    os.mkfifo(folder / "__pycache__" / f"good.{sys.implementation.cache_tag}.pyc")
    os.mkfifo(folder / "bad.py")
    runtime = make()
    assert [command.name for command in runtime.commands()] == ["there"]
    assert [line for line in runtime.notices if "a FIFO" in line and f"{folder}/bad.py" in line]
    assert "agentcli_extension_bad" not in sys.modules
