"""How the tests write scripts, and look at and wait for what the app shows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot

from agentcli.agent.messages import AgentMessage, UserMessage, text_of
from agentcli.tui.app import ChatApp
from agentcli.tui.painting.rows import plain
from agentcli.tui.widgets.editor import Editor
from tests import waiting


def write_script(path: Path, *answers: list[dict[str, Any]]) -> Path:
    """A file for the scripted model. An answer without an end is `done`."""
    lines: list[dict[str, Any]] = []
    for answer in answers:
        lines += answer
        if not answer or ("stop" not in answer[-1] and "error" not in answer[-1]):
            lines.append({"stop": "done"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


async def until(pilot: Pilot[Any], holds: Callable[[], object]) -> None:
    """Wait until something holds; fail with what the app shows if it never does."""
    if not holds():
        await waiting.until(holds, seen=lambda: screen(pilot))
        await pilot.pause()


def type_keys(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys without waiting for what each of them does; a letter is its own key."""
    for key in keys:
        pilot.app.post_message(events.Key({" ": "space"}.get(key, key), key if len(key) == 1 else None))


async def ready(pilot: Pilot[Any]) -> ChatApp:
    """The app, once its runtime is there."""
    app = pilot.app
    assert isinstance(app, ChatApp)
    await until(pilot, lambda: app.runtime is not None or app.failure is not None)
    return app


async def idle(pilot: Pilot[Any]) -> None:
    """Wait until the agent has nothing to do and the screen shows it."""
    app = pilot.app
    assert isinstance(app, ChatApp)
    await until(pilot, lambda: app.runtime is not None and not app.runtime.is_busy and app.footer.activity == "ready")
    before = ""
    while before != screen(pilot):
        before = screen(pilot)
        await pilot.pause(0.05)


async def send(pilot: Pilot[Any], text: str, key: str = "enter") -> None:
    """Write a prompt and press the key that sends it."""
    pilot.app.query_one(Editor).put(text)
    await pilot.press(key)


def screen(pilot: Pilot[Any]) -> str:
    """What the terminal shows."""
    return "\n".join(line.text.rstrip() for line in pilot.app.screen._compositor.render_strips())


def transcript(app: ChatApp) -> str:
    """The whole conversation, as rows of the present width."""
    stack = app.transcript._stack
    return "\n".join("\n".join(plain(item.rows(stack.width, stack.palette))) for item in stack.items)


def user_prompts(app: ChatApp) -> list[str]:
    """The user's prompts, as the agent has them."""
    assert app.runtime is not None
    messages: list[AgentMessage] = app.runtime.agent.state.messages
    return [text_of(message.content) for message in messages if isinstance(message, UserMessage)]
