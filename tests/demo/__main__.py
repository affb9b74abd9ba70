"""Makes the picture of the README: `python -m tests.demo`. A scripted model works with the real tools in a small project."""

import asyncio
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from agentcli.config.settings import PermissionMode, Settings
from agentcli.runtime.runtime import RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice
from agentcli.tui.app import ChatApp
from tests.tui.drive import idle, ready, send, write_script

PICTURE = Path(__file__).with_name("app.svg")

CODE = """\
def total(prices, discount=0):
    result = 0
    for price in prices:
        result += price
    return result - result * discount / 10
"""

TEST = """\
from shop import total
assert total([10, 20]) == 30, total([10, 20])
assert total([10, 20], discount=50) == 15, total([10, 20], discount=50)
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
]


async def draw() -> str:
    """The app, after the work, as SVG."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shop"
        folder.mkdir()
        (folder / "shop.py").write_text(CODE)
        (folder / "check.py").write_text(TEST)
        write_script(folder / "demo.jsonl", *ANSWERS)
        os.environ.update(AGENTCLI_HOME=str(Path(place) / "home"), HOME=place)
        os.chdir(folder)
        options = RuntimeOptions(
            settings=Settings(),
            model="scripted:demo.jsonl",
            session=SessionChoice(in_memory=True),
            permission_mode=PermissionMode.AUTO,
        )
        app = ChatApp(options)
        async with app.run_test(size=(100, 36)) as pilot:
            await ready(pilot)
            await send(pilot, "The total is wrong with a discount. Find out why, and fix it.")
            await idle(pilot)
            picture = app.export_screenshot(title="agentcli")
        # Without the fonts that a reader's browser would fetch from elsewhere.
        picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.S)
        return picture.replace("scripted/demo.jsonl", "a scripted model   ").replace(place, "~")


if __name__ == "__main__":
    PICTURE.write_text(asyncio.run(draw()))
