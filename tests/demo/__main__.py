"""Makes the pictures of the README: `python -m tests.demo`. A scripted model works with the real tools in a small project."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agentcli.agent.messages import UserMessage
from agentcli.config.settings import PermissionMode, Settings
from agentcli.runtime.runtime import RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice
from agentcli.sessions.entries import MessageEntry
from agentcli.tui.app import ChatApp
from tests.tui.drive import idle, ready, screen, send, until, write_script
from tests.tui.pictures import PictureApp

FOLDER = Path(__file__).parent
SIZE = (100, 32)

CODE = """\
def total(prices, discount=0):
    result = 0
    for price in prices:
        result += price
    return result - result * discount / 10
"""

TEST = """\
import sys
from shop import total
for discount, right in ((0, 30), (50, 15)):
    if (found := total([10, 20], discount)) != right:
        sys.exit(f"with a discount of {discount} %: {found}, not {right}")
print("2 checks passed")
"""

ANSWERS: list[list[dict[str, Any]]] = [
    [
        {"text": "I look at the code and run the checks."},
        {"tool": "read", "arguments": {"path": "shop.py"}},
        {"tool": "bash", "arguments": {"command": "python3 check.py"}},
        {"usage": {"input": 1840, "output": 96, "total_tokens": 1936}},
        {"stop": "tool_calls"},
    ],
    [
        {"text": "The discount is in **percent**, but the code divides by 10."},
        {
            "tool": "edit",
            "arguments": {"path": "shop.py", "edits": [{"old_text": "discount / 10", "new_text": "discount / 100"}]},
        },
        {"usage": {"input": 2210, "output": 120, "total_tokens": 2330}},
        {"stop": "tool_calls"},
    ],
    [
        {"tool": "bash", "arguments": {"command": "python3 check.py"}},
        {"usage": {"input": 2390, "output": 40, "total_tokens": 2430}},
        {"stop": "tool_calls"},
    ],
    [
        {"text": "Fixed: `total` took off ten times the discount (`shop.py`, line 5). Both checks pass now."},
        {"usage": {"input": 2470, "output": 52, "total_tokens": 2522}},
        {"stop": "done"},
    ],
    [
        {"text": "I add a check for each price that is wrong, and run them all."},
        {"tool": "bash", "arguments": {"command": "for n in 1 2 3; do echo check $n; done; sleep 60"}},
        {"usage": {"input": 2590, "output": 88, "total_tokens": 2678}},
        {"stop": "tool_calls"},
    ],
    [{"text": "A discount of more than 100 % is refused now."}, {"stop": "done"}],
]


async def work(pilot: Pilot[Any], app: ChatApp) -> AsyncIterator[tuple[str, str]]:
    """The pictures, by name, of a session as it goes on."""
    await ready(pilot)
    await send(pilot, "The total is wrong with a discount. Find out why, and fix it.")
    await idle(pilot)
    yield "app", app.export_screenshot(title="agentcli")
    await send(pilot, "Now check wrong prices too.")
    await until(pilot, lambda: "check 3" in screen(pilot))
    await send(pilot, "Negative prices as well")
    await send(pilot, "Then commit it", "alt+enter")
    app.editor.put("and while you are")
    await until(pilot, lambda: "follow-up" in screen(pilot))
    yield "steering", app.export_screenshot(title="agentcli")
    await pilot.press("escape")
    await idle(pilot)
    app.editor.put("")
    controller = app.controller
    assert controller is not None
    branch = [entry for entry in controller.runtime.session.get_branch() if isinstance(entry, MessageEntry)]
    await controller.runtime.go_to([entry.id for entry in branch if isinstance(entry.message, UserMessage)][1])
    await send(pilot, "Refuse a discount of more than 100 %.")
    await idle(pilot)
    app.theming.preview("light")
    app.act("tree")
    await until(pilot, lambda: "Tree" in screen(pilot))
    await pilot.pause(0.2)
    yield "tree", app.export_screenshot(title="agentcli")
    await pilot.press("escape")


async def draw() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shop"
        folder.mkdir()
        (folder / "shop.py").write_text(CODE)
        (folder / "check.py").write_text(TEST)
        script = write_script(Path(place) / "model", *ANSWERS)
        os.environ.update(AGENTCLI_HOME=str(Path(place) / "home"), HOME=place)
        os.chdir(folder)
        options = RuntimeOptions(
            settings=Settings(),
            model=f"scripted:{script}",
            session=SessionChoice(in_memory=True),
            permission_mode=PermissionMode.AUTO,
        )
        app = PictureApp(options)
        async with app.run_test(size=SIZE) as pilot:
            async for name, picture in work(pilot, app):
                model = f"scripted/{script}"
                shown = "a-scripted-model".ljust(len(model), "\N{NO-BREAK SPACE}").replace(
                    "\N{NO-BREAK SPACE}", "&#160;"
                )
                (FOLDER / f"{name}.svg").write_text(picture.replace(model, shown))


if __name__ == "__main__":
    asyncio.run(draw())
