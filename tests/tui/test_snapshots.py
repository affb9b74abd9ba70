"""How the main states look. `pytest tests/tui/test_snapshots.py --snapshot-update` takes new pictures: look at them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from agentcli.agent.events import ToolExecutionEndEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent
from agentcli.agent.messages import (
    AssistantMessage,
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    StopReason,
    TextContent,
    ThinkingContent,
    user_message,
)
from agentcli.agent.models import ThinkingLevel
from agentcli.agent.tools import AgentToolResult
from agentcli.config.settings import Settings
from agentcli.runtime.events import (
    ModelChangedEvent,
    NoticeEvent,
    PermissionRequestEvent,
    RetryStartEvent,
    SessionInfoChangedEvent,
)
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice
from agentcli.tui.app import ChatApp
from agentcli.tui.items.summary import Summary
from agentcli.tui.items.tool_panel import ToolPanel
from tests.tui.drive import ready, until, write_script

SIZES = [(80, 24), (120, 40)]
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

Prepare = Callable[[Pilot[Any], ChatApp], Awaitable[None]]


def result(text: str, details: Any = None, is_error: bool = False) -> AgentToolResult:
    return AgentToolResult(content=[TextContent(text)], details=details, is_error=is_error)


async def at_the_start(pilot: Pilot[Any], app: ChatApp) -> None:
    pass


async def in_conversation(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.chat is not None
    answer = AssistantMessage(
        [ThinkingContent("I look at the parser\nand then at the tests"), TextContent(MARKDOWN)],
        stop_reason=StopReason.DONE,
    )
    app.chat.conversation.show_history([user_message("why does the parser\nfail?"), answer])


async def with_tools(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.chat is not None
    conversation = app.chat.conversation
    events: list[Any] = []
    calls = [
        ("bash", {"command": "make test"}, result("one\ntwo\nthree"), 2.5),
        ("edit", {"path": "src/a.py"}, result("edited", {"diff": DIFF}), 0.0),
        ("read", {"path": "src/b.py", "offset": 10, "limit": 5}, result("x", {"first_line": 10, "last_line": 14}), 0.0),
        ("write", {"path": "new.py", "content": "import os\n"}, result("Created new.py: 1 line, 10 bytes."), 0.0),
        ("teleport", {"where": "home"}, result("there is no such tool", is_error=True), 0.0),
    ]
    for number, (name, arguments, ended, seconds) in enumerate(calls):
        conversation.apply([ToolExecutionStartEvent(str(number), name, arguments)], 0.0)
        conversation.apply([ToolExecutionEndEvent(str(number), name, ended, ended.is_error)], seconds)
    events.append(ToolExecutionStartEvent("x", "bash", {"command": "for i in $(seq 99); do echo $i; sleep 1; done"}))
    growing = "\n".join(str(number) for number in range(1, 13))
    events.append(ToolExecutionUpdateEvent("x", "bash", {}, result(growing)))
    conversation.apply(events, 0.0)
    panel = next(item for item in reversed(app.transcript.items) if isinstance(item, ToolPanel))
    panel.tick(12.0)
    app.transcript.changed(panel)
    app.transcript.show()
    if app._clock is not None:
        app._clock.stop()


async def with_a_queue(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.runtime is not None
    app.runtime.steer("use the other file")
    app.runtime.follow_up("then run the tests\nand commit")
    app.editor.put("a draft\nof two lines")
    app.show_state()


async def after_failures(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.chat is not None
    failed = AssistantMessage(
        [TextContent("half an")], stop_reason=StopReason.ERROR, error_message="no credit left", error_kind="quota"
    )
    app.chat.conversation.show_history([user_message("hi"), failed])
    app.chat.conversation.apply([RetryStartEvent(2, 3, 4.0, "the server is busy")], 0.0)
    if app._clock is not None:
        app._clock.stop()


async def with_notes(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.chat is not None
    conversation = app.chat.conversation
    conversation.show_history(
        [
            CompactionSummaryMessage("## Goal\n\n- fix the parser\n- and its tests", 182_345),
            user_message("go on"),
            BranchSummaryMessage("The other way failed.", "e"),
            BashExecutionMessage("make test", "12 passed\n", exit_code=0),
            BashExecutionMessage("false", "", exit_code=1, exclude_from_context=True),
        ]
    )
    changes = [ModelChangedEvent("acme", "large-2", ThinkingLevel.HIGH), SessionInfoChangedEvent("the parser")]
    conversation.apply([*changes, NoticeEvent("config.toml:3: unknown key")], 0.0)
    app.transcript.toggle(next(item for item in app.transcript.items if isinstance(item, Summary)))


async def scrolled_back(pilot: Pilot[Any], app: ChatApp) -> None:
    await in_conversation(pilot, app)
    await in_conversation(pilot, app)
    await pilot.pause()
    app.act("page_up")


STATES = [at_the_start, in_conversation, with_tools, with_a_queue, with_notes, after_failures, scrolled_back]


async def asking(pilot: Pilot[Any], app: ChatApp) -> None:
    assert app.chat is not None
    await in_conversation(pilot, app)
    edits = [{"old_text": "return line.split('=')", "new_text": "return line.partition('=')[::2]\n# [b]both[/] sides"}]
    app.chat.requests = [
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


class PictureApp(ChatApp):
    """Its `run` returns what it was ended with, as the taker of pictures expects."""

    run = App.run  # type: ignore[assignment]


def picture(snap_compare: Any, prepare: Prepare, size: tuple[int, int]) -> bool:
    script = write_script(Path("demo.jsonl"), [{"text": "never asked"}])
    app = PictureApp(
        RuntimeOptions(settings=Settings(), model=f"scripted:{script}", session=SessionChoice(in_memory=True))
    )

    async def run_before(pilot: Pilot[Any]) -> None:
        await prepare(pilot, await ready(pilot))
        await pilot.pause(0.1)

    return snap_compare(app, terminal_size=size, run_before=run_before)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_a_state_looks_as_it_did(snap_compare: Any, state: Prepare, size: tuple[int, int]) -> None:
    assert picture(snap_compare, state, size)


def test_a_question_looks_as_it_did(snap_compare: Any) -> None:
    assert picture(snap_compare, asking, (80, 24))


def test_a_small_terminal_shows_what_matters(snap_compare: Any) -> None:
    assert picture(snap_compare, with_a_queue, (30, 8))
