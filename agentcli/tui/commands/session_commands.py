"""Commands that start, open, fork, name and export sessions, and move in a session's tree."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from agentcli.agent.errors import UsageError
from agentcli.agent.messages import UserMessage, text_of
from agentcli.agent.threads import to_thread
from agentcli.config.paths import sessions_folder
from agentcli.runtime.runtime import Runtime
from agentcli.runtime.switching import clone_session, fork_session, new_session, switch_session
from agentcli.sessions.entries import MessageEntry
from agentcli.sessions.export.export import export_session
from agentcli.sessions.listing import SessionInfo
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.stats import stats_lines
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.tui.app_settings import apply_settings, equip_editor
from agentcli.tui.commands.command_context import CommandContext
from agentcli.tui.screens.picker import PickerRow

FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".jsonl": "jsonl", ".json": "json"}


async def new(context: CommandContext, argument: str) -> None:
    """Start a new session."""
    await _switch(context, new_session)


async def clone(context: CommandContext, argument: str) -> None:
    """Continue in a copy of the session."""
    await _switch(context, clone_session)
    context.flash("this is the copy; /resume goes back to the other one")


async def resume(context: CommandContext, argument: str) -> None:
    """Open another session, by its id or from a list."""
    from agentcli.sessions.search import search_sessions
    from agentcli.tui.screens.session_picker import SessionPicker

    reference = argument
    if not reference:
        picker = SessionPicker(
            load=lambda all_folders: _list(context, all_folders),
            search=search_sessions,
            rename=lambda info, name: _rename(context, info, name),
            delete=_delete,
            folder=context.runtime.cwd,
            keymap=context.app.keymap,
            palette=context.app.palette,
            open_path=_path(context),
        )
        path = await context.ask(picker)
        reference = str(path) if path else ""
    if reference:
        await _switch(context, lambda runtime: switch_session(runtime, reference))


async def fork(context: CommandContext, argument: str) -> None:
    """Start a session from one of the user's prompts on."""
    rows = [
        PickerRow(entry.id, text)
        for entry in reversed(context.runtime.session.get_branch())
        if isinstance(entry, MessageEntry)
        and isinstance(entry.message, UserMessage)
        and (text := text_of(entry.message.content))
    ]
    if not rows:
        raise UsageError("there is no prompt to fork from yet", hint="/clone copies a whole session")
    chosen = await context.pick("Fork before which prompt?", rows)
    if chosen:
        await _fork(context, chosen, "before")


async def tree(context: CommandContext, argument: str) -> None:
    """Show the session's tree, and move in it, fork or summarise as chosen there."""
    from agentcli.sessions.tree import tree_lines
    from agentcli.tui.screens.tree_screen import TreeDeed, TreeScreen

    runtime = context.runtime
    storage = runtime.session.storage
    screen = TreeScreen(
        list(tree_lines(storage, everything=True)),
        storage.get_some,
        labels=storage.labels,
        label=runtime.label,
        keymap=context.app.keymap,
        palette=context.app.palette,
        title=runtime.session.name or "Tree",
    )
    choice = await context.ask(screen)
    if choice is None:
        return
    if choice.what is TreeDeed.FORK:
        entry = runtime.session.get_entry(choice.entry_id)
        is_prompt = isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
        await _fork(context, choice.entry_id, "before" if is_prompt else "at")
        return
    context.app.prepend_to_draft(context.controller.stop())
    summarize = choice.what is TreeDeed.SUMMARIZE
    moved = await runtime.go_to(choice.entry_id, summarize=summarize, instructions=choice.instructions)
    if moved.moved and moved.edit_text:
        context.app.prepend_to_draft([moved.edit_text])


async def name(context: CommandContext, argument: str) -> None:
    """Name the session; without an argument the present name is put into the editor to be changed."""
    session = context.runtime.session
    if argument:
        context.runtime.name_session(argument)
        context.flash(f"named: {session.name}")
    else:
        context.app.editor.put(f"/name {session.name or ''}")


async def session(context: CommandContext, argument: str) -> None:
    """Show the figures of the session."""
    session = context.runtime.session
    file = _path(context) or "kept in memory"
    context.notify("\n".join([*stats_lines(session, session.get_stats()), f"file      {file}"]))


async def export(context: CommandContext, argument: str) -> None:
    """Write the session to a file, in the format that its suffix names. Existing files are not overwritten."""
    session = context.runtime.session
    name = re.sub(r"[^\w.-]+", "-", session.name or "").strip("-") or session.id[-12:]
    path = context.runtime.cwd / Path(argument.strip("\"'") or f"{name}.html").expanduser()
    format = FORMATS.get(path.suffix.lower())
    if format is None:
        raise UsageError(f"no format has the ending {path.suffix!r}", hint=f"one of {', '.join(FORMATS)}")
    if path.exists():
        raise UsageError(f"{path} exists already", hint="name another file: /export FILE")
    text = export_session(session, format)
    try:
        await to_thread(_write, path, text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="name another file: /export FILE") from None
    context.notify(f"exported to {path}")


async def _fork(context: CommandContext, entry_id: str, position: str) -> None:
    text: str | None = None

    async def fork(runtime: Runtime) -> Runtime:
        nonlocal text
        forked, text = await fork_session(runtime, entry_id, position)
        return forked

    await _switch(context, fork)
    context.app.prepend_to_draft([text or ""])


async def _switch(context: CommandContext, open: Callable[[Runtime], Awaitable[Runtime]]) -> None:
    """Replace the session by the one that `open` returns. Queued messages are put back into the editor."""
    context.app.prepend_to_draft(context.controller.stop())
    runtime = await open(context.runtime)
    before = context.runtime
    if runtime is before:
        return
    context.controller.use(runtime)
    if runtime.cwd != before.cwd:
        context.notify(*apply_settings(context.app, context.controller))
        await equip_editor(context.app, context.controller)
    await context.controller.count_spending()


def _path(context: CommandContext) -> Path | None:
    storage = context.runtime.session.storage
    return storage.path if isinstance(storage, JsonlSessionStorage) else None


def _list(context: CommandContext, all_folders: bool) -> list[SessionInfo]:
    return _repo().list(None if all_folders else context.runtime.cwd)


async def _rename(context: CommandContext, info: SessionInfo, name: str) -> None:
    if info.path == _path(context):
        context.runtime.name_session(name)
        return
    session = _repo().open(info.path)
    try:
        session.append_session_info(name)
        session.sync()
    finally:
        session.close()


async def _delete(info: SessionInfo) -> bool:
    return _repo().delete(info.path)


def _repo() -> JsonlSessionRepo:
    return JsonlSessionRepo(sessions_folder())


def _write(path: Path, text: str) -> None:
    # Neither over an existing file nor through a link.
    with path.open("x", encoding="utf-8", newline="") as file:
        file.write(text)
    path.chmod(0o600)
