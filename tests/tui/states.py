"""What the app can show, each state as a function that brings a started app there."""

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agentcli.agent.events import ToolExecutionEndEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent
from agentcli.agent.messages import (
    AgentMessage,
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    user_message,
)
from agentcli.agent.models import ThinkingLevel
from agentcli.agent.tools import AgentToolResult
from agentcli.config.paths import sessions_folder
from agentcli.config.settings import ProviderSettings, Settings
from agentcli.runtime.events import (
    ModelChangedEvent,
    NoticeEvent,
    PermissionRequestEvent,
    RetryStartEvent,
    SessionInfoChangedEvent,
)
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage
from agentcli.tui.app import ChatApp
from agentcli.tui.items.summary import Summary
from agentcli.tui.screens.list_screen import ListScreen
from tests.tui.drive import screen, send, until

MARKDOWN = """## What I found

The parser splits at `=`, which is **wrong** for 你好 = 世界; see [the docs](https://example.invalid/p):

1. the first part is the *name*
2. the rest is the value

> as the standard says

```python
def parse(line: str) -> tuple[str, str]:
    return line.partition("=")[::2]  # both
```

| case | result |
| --- | --- |
| `a=b=c` | ok |
"""
DIFF = " 9 one\n-10 two\n+10 2\n 11 three"
MODELS: dict[str, dict[str, Any]] = {
    "acme/large-2": {
        "name": "Acme Large 2",
        "reasoning": True,
        "context_window": 200_000,
        "cost": {"input": 3, "output": 15},
    },
    "acme/large-1": {"name": "Acme Large 1", "context_window": 128_000, "cost": {"input": 4, "output": 20}},
    "acme/small-2": {"name": "Acme Small 2", "context_window": 32_000},
}

Prepare = Callable[[Pilot[Any], ChatApp], Awaitable[None]]


def options(theme: str = "dark", session: Session | None = None) -> RuntimeOptions:
    """For an app that asks no server anything: `send` is answered by an error."""
    settings = Settings(
        theme=theme,
        models=MODELS,
        providers={"acme": ProviderSettings(base_url="http://127.0.0.1:9/v1", api_key_env=[])},
    )
    choice = SessionChoice(in_memory=session is None, opened=session)
    return RuntimeOptions(settings=settings, model="acme/large-2:high", session=choice)


def result(text: str, details: Any = None, is_error: bool = False) -> AgentToolResult:
    return AgentToolResult(content=[TextContent(text)], details=details, is_error=is_error)


def answer(*content: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(list(content), stop_reason=fields.pop("stop_reason", StopReason.DONE), **fields)


def stand_still(app: ChatApp) -> None:
    if app._clock is not None:
        app._clock.stop()


def show_history(app: ChatApp, messages: Sequence[AgentMessage]) -> None:
    assert app.controller is not None
    app.controller.transcript.add_messages(messages)
    app.transcript.show()


def apply(app: ChatApp, now: float, *events: Any) -> None:
    assert app.controller is not None
    for event in events:
        app.controller.transcript.apply(event, now)
    app.transcript.show()


async def at_the_start(pilot: Pilot[Any], app: ChatApp) -> None:
    pass


async def in_conversation(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.controller is not None
    said = [ThinkingContent("I look at the parser\nand then at the tests"), TextContent(MARKDOWN)]
    show_history(app, [user_message("why does the parser\nfail?"), answer(*said)])


async def with_tools(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.controller is not None
    stand_still(app)
    events: list[Any] = []
    calls = [
        ("bash", {"command": "make test"}, result("one\ntwo\nthree"), 2.5),
        ("edit", {"path": "src/a.py"}, result("edited", {"diff": DIFF}), 0.0),
        ("read", {"path": "src/b.py", "offset": 10, "limit": 5}, result("x", {"first_line": 10, "last_line": 14}), 0.0),
        ("write", {"path": "new.py", "content": "import os\n"}, result("Created new.py: 1 line, 10 bytes."), 0.0),
        ("teleport", {"where": "home"}, result("there is no such tool", is_error=True), 0.0),
    ]
    for number, (name, arguments, ended, seconds) in enumerate(calls):
        apply(app, 0.0, ToolExecutionStartEvent(str(number), name, arguments))
        apply(app, seconds, ToolExecutionEndEvent(str(number), name, ended, ended.is_error))
    events.append(ToolExecutionStartEvent("x", "bash", {"command": "for i in $(seq 99); do echo $i; sleep 1; done"}))
    growing = "\n".join(str(number) for number in range(1, 13))
    events.append(ToolExecutionUpdateEvent("x", "bash", {}, result(growing)))
    apply(app, 0.0, *events)
    app.controller.transcript.tick(12.0)
    app.transcript.show()


async def with_a_queue(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.runtime is not None
    await in_conversation(pilot, app)
    app.runtime.steer("use the other file")
    app.runtime.follow_up("then run the tests\nand commit")
    app.editor.put("a draft\nof two lines")
    app.show_state()


async def in_the_queue(pilot: Pilot[Any], app: ChatApp) -> None:
    await with_a_queue(pilot, app)
    await pilot.press("alt+q", "down")


async def after_failures(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.controller is not None
    stand_still(app)
    failed = answer(
        TextContent("half an"), stop_reason=StopReason.ERROR, error_message="no credit left", error_kind="quota"
    )
    show_history(app, [user_message("hi"), failed])
    apply(app, 0.0, RetryStartEvent(2, 3, 4.0, "the server is busy"))


async def with_notes(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.controller is not None
    show_history(
        app,
        [
            CompactionSummaryMessage("## Goal\n\n- fix the parser\n- and its tests", 182_345),
            user_message("go on"),
            BranchSummaryMessage("The other way failed.", "e"),
            BashExecutionMessage("make test", "12 passed\n", exit_code=0),
            BashExecutionMessage("false", "", exit_code=1, exclude_from_context=True),
        ],
    )
    changes = [ModelChangedEvent("acme", "large-2", ThinkingLevel.HIGH), SessionInfoChangedEvent("the parser")]
    apply(app, 0.0, *changes, NoticeEvent("config.toml:3: unknown key"))
    app.transcript.toggle(next(item for item in app.transcript.items if isinstance(item, Summary)))


async def scrolled_back(pilot: Pilot[Any], app: ChatApp) -> None:
    await in_conversation(pilot, app)
    await in_conversation(pilot, app)
    await pilot.pause()
    app.act("page_up")


async def asking(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.controller is not None
    await in_conversation(pilot, app)
    edits = [{"old_text": "return line.split('=')", "new_text": "return line.partition('=')[::2]\n# [b]both[/] sides"}]
    app.controller.transcript.requests = [
        PermissionRequestEvent(
            id=f"p{number}",
            tool_call_id="c",
            tool_name="edit",
            arguments={"path": "src/parser.py", "edits": edits},
            about="edit src/parser.py",
            because="the mode is ask, and no rule allows it",
            suggested_rules=["edit(/home/me/project/**)"],
        )
        for number in (1, 2)
    ]
    app.editor.put("a draft")
    app.show_state()
    await until(pilot, lambda: app.permission.is_ready)


async def completing(pilot: Pilot[Any], app: ChatApp) -> None:
    await in_conversation(pilot, app)
    await pilot.press("slash", "e", "x")
    await until(pilot, lambda: app.editor.completing is not None and app.editor.completing.is_open)


async def completing_files(pilot: Pilot[Any], app: ChatApp) -> None:
    for name in ("src/parser.py", "src/printer.py", "tests/test_parser.py", "docs/the parser.md"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("")
    await in_conversation(pilot, app)
    await pilot.press(*"why does ", "at", *"par")
    await until(pilot, lambda: "test_parser.py" in screen(pilot))


async def search(pilot: Pilot[Any], title: str, text: str) -> None:
    """Type into the line of a screen with a list, once it is there, and wait until it was searched for."""
    await until(pilot, lambda: title in screen(pilot))
    top = pilot.app.screen
    assert isinstance(top, ListScreen)
    await pilot.press(*text)
    await until(pilot, lambda: top.line.text == text)


def opened(call: str, title: str, searched: str = "", keys: Sequence[str] = ()) -> Prepare:
    """A command that opens a screen over the conversation, what is searched for there, and keys to press."""

    async def prepare(pilot: Pilot[Any], app: ChatApp) -> None:
        await in_conversation(pilot, app)
        await send(pilot, call)
        await search(pilot, title, searched)
        await pilot.press(*keys)

    prepare.__name__ = title.lower().replace(" ", "_")
    return prepare


async def commands(pilot: Pilot[Any], app: ChatApp) -> None:
    await in_conversation(pilot, app)
    await pilot.press("ctrl+p")
    await search(pilot, "Commands", "sess")


models = opened("/model", "Model", "acme")
thinking = opened("/thinking", "Thinking")
themes = opened("/theme", "Theme", keys=("down", "down"))
help = opened("/help", "Keys and commands")
help_searched = opened("/help", "Keys and commands", "queue")


async def history(pilot: Pilot[Any], app: ChatApp) -> None:
    await in_conversation(pilot, app)
    for text in ("run the tests", "why does the parser\nfail?\nand since when?", "commit it", "parse dates too"):
        app.editor.prompts.add(text)
    await pilot.press("ctrl+r")
    await search(pilot, "What you sent", "par")


async def sessions(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.runtime is not None
    repo = JsonlSessionRepo(sessions_folder())
    for name, text, hours in (
        ("the parser", "why does the parser fail?", 2),
        ("", "write a changelog for everything since the last release, and leave out what nobody notices", 30),
        ("", "explain the cache", 24 * 9),
        ("release 2", "bump the version", 24 * 70),
    ):
        session = repo.create(app.runtime.cwd)
        session.append_message(user_message(text))
        session.append_message(answer(TextContent("Done.")))
        if name:
            session.append_session_info(name)
        session.close()
        storage: Any = session.storage
        then = Path(storage.path).stat().st_mtime - hours * 3_600 - 60
        os.utime(storage.path, (then, then))
    await in_conversation(pilot, app)
    await send(pilot, "/resume")
    await until(pilot, lambda: "the parser" in screen(pilot) and "release 2" in screen(pilot))


def branched() -> Session:
    """A session with three branches, a label and a summary of the branch that was left."""
    session = Session(
        InMemorySessionStorage(SessionHeader(id="s", timestamp="2026-01-01T00:00:00.000Z", cwd=str(Path.cwd())))
    )
    usage = Usage(input=1_840, output=96, total_tokens=1_936)
    session.append_message(user_message("why does the parser fail on `a=b=c`?"))
    call = ToolCall(id="c", name="read", arguments={"path": "src/parser.py"})
    session.append_message(answer(TextContent("I look at it."), call, stop_reason=StopReason.TOOL_CALLS, usage=usage))
    session.append_message(ToolResultMessage("c", "read", [TextContent("def parse(line): …")]))
    found = session.append_message(
        answer(TextContent("It splits at every `=`, so there are three parts.\n\n" + MARKDOWN))
    )
    session.append_label(found, "found it")
    session.append_message(user_message("rewrite it with a regular expression"))
    session.append_message(answer(TextContent("Done, though it is slower now.")))
    session.append_message(user_message("how much slower?"))
    session.append_message(answer(TextContent("Three times.")))
    session.move_to(found)
    session.append_message(user_message("use partition instead"))
    session.append_message(answer(TextContent('Done: `line.partition("=")[::2]`.'), usage=usage))
    session.append_message(user_message("and the tests?"))
    session.append_message(answer(TextContent("They pass now, all twelve of them."), usage=usage))
    return session


async def in_the_tree(pilot: Pilot[Any], app: ChatApp) -> None:
    await send(pilot, "/tree")
    await until(pilot, lambda: "rewrite it" in screen(pilot))


async def in_the_tree_at_a_label(pilot: Pilot[Any], app: ChatApp) -> None:
    await in_the_tree(pilot, app)
    await search(pilot, "rewrite it", "found it")


async def labelling(pilot: Pilot[Any], app: ChatApp) -> None:
    await in_the_tree(pilot, app)
    await pilot.press("up", "ctrl+l", *"with partition")
