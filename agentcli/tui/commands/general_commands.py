"""General commands: help, the command palette, copying the answer, compaction, quitting."""

from agentcli.agent.messages import text_of
from agentcli.tui.commands.actions import AppAction, Command
from agentcli.tui.commands.command_context import CommandContext
from agentcli.tui.painting.clean import clean
from agentcli.tui.screens.picker import PickerRow


async def compact(context: CommandContext, argument: str) -> None:
    """Summarise the older part of the conversation, with these instructions."""
    await context.runtime.compact(argument)


async def copy(context: CommandContext, argument: str) -> None:
    """Copy the last answer to the clipboard."""
    message = context.runtime.last_message
    # Clean as it was shown: it may be pasted into a shell.
    if message is None or not (text := clean(text_of(message.content)).strip()):
        context.flash("there is no answer to copy yet")
        return
    context.app.copy_to_clipboard(text)
    context.flash(f"copied the last answer, {len(text):,} characters")


async def quit(context: CommandContext, argument: str) -> None:
    """End the app."""
    context.app.exit()


async def suspend(context: CommandContext, argument: str) -> None:
    """Stop the process until the shell's `fg`."""
    context.app.action_suspend_process()


async def help(context: CommandContext, argument: str) -> None:
    """Show every key and command."""
    from agentcli.tui.screens.help_screen import HelpScreen

    commands = context.runtime.commands()
    await context.ask(HelpScreen(keymap=context.app.keymap, palette=context.app.palette, commands=commands))


async def palette(context: CommandContext, argument: str) -> None:
    """Choose from every action of the app and every command."""
    keymap = context.app.keymap
    rows: list[PickerRow] = []
    for action in keymap.actions:
        if isinstance(action, AppAction | Command) and action.name != "palette":
            call = f"/{action.name}" if isinstance(action, Command) and action.slash else ""
            detail = " ".join(part for part in (call, keymap.shown(action.name)) if part)
            rows.append(PickerRow(action.name, action.title, detail, search=f"{action.name} {action.title}"))
    rows += [
        PickerRow(f"/{each.name}", f"/{each.name}", each.description, search=f"{each.name} {each.description}")
        for each in context.runtime.commands()
    ]
    chosen = await context.pick("Commands", rows)
    if chosen is None:
        return
    if chosen.startswith("/"):
        context.app.editor.put(f"{chosen} ")
    else:
        context.app.act(chosen)


async def history_search(context: CommandContext, argument: str) -> None:
    """Choose a prompt from the history of the directory."""
    entries = [*reversed(context.app.editor.prompts.entries)]
    rows = [PickerRow(text, text) for text in entries]
    chosen = await context.pick("What you sent in this folder", rows, preview=str, empty="nothing was sent yet")
    if chosen is not None:
        context.app.editor.recall(chosen)
