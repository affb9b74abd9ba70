"""Commands: what `/commands`, keys and the command palette do, but for what only scrolls or edits.

Each action of `actions` that is done here has a coroutine of its name. They may open a screen and wait for what the
person chooses there. The widgets know none of this.
"""

import traceback

from agentcli.agent.errors import AgentcliError
from agentcli.agent.messages import text_of
from agentcli.tui.commands.actions import ACTIONS, Where
from agentcli.tui.commands.choices import Choices
from agentcli.tui.commands.session_commands import SessionCommands
from agentcli.tui.commands.slash import CommandCall, ShellCall, UnknownCall, call_of
from agentcli.tui.painting.clean import clean
from agentcli.tui.screens.picker import PickerRow


class Commands(SessionCommands, Choices):
    """See `CommandContext`."""

    async def run(self, name: str, argument: str = "") -> None:
        """Do an action. A failure that was foreseen is told in the conversation."""
        try:
            await getattr(self, name)(argument)
        except AgentcliError as error:
            self.chat.conversation.failure(error)
        except Exception as error:
            # A screen that breaks is no reason to end what the agent does.
            where = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"{name} broke: {type(error).__name__}: {error} ({where.name}, line {where.lineno})"
            self.chat.conversation.failure(AgentcliError(problem, hint="nothing is lost; please report it"))
        self.app.show_state()

    def take(self, text: str) -> bool:
        """Do what a text calls; False if it is for the model. What calls nothing comes back into the editor."""
        match call_of(text, [command.name for command in self.chat.runtime.commands()]):
            case CommandCall(action, argument):
                self.app.act(action.name, argument)
            case ShellCall() as call:
                self.app.run_worker(self._shell(call, text), group="commands")
            case UnknownCall(problem):
                self.app.give_back([text])
                self.flash(problem)
            case _:
                return False
        return True

    async def _shell(self, call: ShellCall, text: str) -> None:
        """Run a command of the person's. What cannot be started comes back into the editor."""
        try:
            await self.chat.runtime.bash(call.command, exclude_from_context=call.exclude_from_context)
        except AgentcliError as error:
            self.chat.conversation.failure(error)
            self.app.give_back([text])
        self.app.show_state()

    # Words

    async def compact(self, argument: str) -> None:
        await self.chat.runtime.compact(argument)

    async def copy(self, argument: str) -> None:
        message = self.chat.runtime.last_message
        # Clean as it was shown: it may be pasted into a shell.
        if message is None or not (text := clean(text_of(message.content)).strip()):
            self.flash("there is no answer to copy yet")
            return
        self.app.copy_to_clipboard(text)
        self.flash(f"copied the last answer, {len(text):,} characters")

    async def quit(self, argument: str) -> None:
        self.app.exit()

    async def suspend(self, argument: str) -> None:
        self.app.action_suspend_process()

    # Finding one's way

    async def help(self, argument: str) -> None:
        from agentcli.tui.screens.help_screen import HelpScreen

        commands = self.chat.runtime.commands()
        await self.ask(HelpScreen(keymap=self.app.keymap, palette=self.app.palette, commands=commands))

    async def palette(self, argument: str) -> None:
        """Every action of the conversation and every command, to choose from."""
        rows: list[PickerRow] = []
        for action in ACTIONS:
            if action.command or (action.where is Where.APP and action.name != "palette"):
                call = f"/{action.name}" if action.command else ""
                detail = " ".join(part for part in (call, self.app.keymap.shown(action.name)) if part)
                rows.append(PickerRow(action.name, action.title, detail, search=f"{action.name} {action.title}"))
        rows += [
            PickerRow(f"/{each.name}", f"/{each.name}", each.description, search=f"{each.name} {each.description}")
            for each in self.chat.runtime.commands()
        ]
        chosen = await self.pick("Commands", rows)
        if chosen is None:
            return
        if chosen.startswith("/"):
            self.app.editor.put(f"{chosen} ")
        else:
            self.app.act(chosen)

    async def history_search(self, argument: str) -> None:
        entries = [*reversed(self.app.editor.prompts.entries)]
        rows = [PickerRow(text, text) for text in entries]
        chosen = await self.pick("What you sent in this folder", rows, preview=str, empty="nothing was sent yet")
        if chosen is not None:
            self.app.editor.recall(chosen)
