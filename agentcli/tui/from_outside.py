"""From outside: what comes into the editor from the clipboard, from files dropped on it, from another editor."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.agent.errors import AgentcliError
from agentcli.tui.clipboard import nothing_there, read_clipboard
from agentcli.tui.external_editor import edit_outside, editor_command
from agentcli.tui.pasted_paths import MAX_CHARACTERS, image_mention, image_mentions

if TYPE_CHECKING:
    from agentcli.tui.widgets.editor import Editor


async def images_in(text: str, cwd: Path | None) -> str:
    """The images of a paste that is nothing but their paths, as `@path`; empty if it is anything else."""
    return await asyncio.to_thread(image_mentions, text, cwd) if len(text) <= MAX_CHARACTERS else ""


async def paste_clipboard(editor: "Editor") -> None:
    """Put what the clipboard holds at the cursor: an image as `@path`, or text; else say why there is nothing."""
    problem = nothing_there()
    found: Path | str = ""
    try:
        found = await asyncio.to_thread(read_clipboard)
    except AgentcliError as error:
        problem = str(error)
    if isinstance(found, Path) and editor.is_prompt:
        editor.mention(image_mention(found, editor.cwd))
    elif isinstance(found, str) and (text := found or editor.app.clipboard):
        await editor.take_paste(text)
    else:
        editor.post_message(editor.Told(problem))


async def write_outside(editor: "Editor") -> None:
    """Have the draft written in the person's own editor."""
    before = editor.text
    try:
        text = await edit_outside(editor.app, editor_command(editor.external_editor), before)
    except AgentcliError as error:
        editor.post_message(editor.Told(str(error)))
        return
    if text != before:
        editor.put(text)
