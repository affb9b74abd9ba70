"""CommandRunner: runs commands and `!` shell commands, and shows how they failed."""

import traceback

from agentcli.agent.errors import AgentcliError
from agentcli.tui.commands.actions import Command
from agentcli.tui.commands.command_context import CommandContext
from agentcli.tui.commands.slash import CommandCall, ShellCall, UnknownCall, call_of


class CommandRunner:
    """Runs the commands of one app.

    Args:
        context: what the commands work with.
    """

    def __init__(self, context: CommandContext) -> None:
        self._context = context

    async def run(self, command: Command, argument: str = "") -> None:
        """Run a command in the present task. Errors are shown in the transcript, and do not end the app."""
        controller = self._context.controller
        try:
            await command.load()(self._context, argument)
        except AgentcliError as error:
            controller.failure(error)
        except Exception as error:
            # A screen that breaks is no reason to end what the agent does.
            where = traceback.extract_tb(error.__traceback__)[-1]
            problem = f"{command.name} broke: {type(error).__name__}: {error} ({where.name}, line {where.lineno})"
            controller.failure(AgentcliError(problem, hint="nothing is lost; please report it"))
        self._context.app.show_state()

    def handle(self, text: str) -> bool:
        """Run what a submitted text calls. A call that does not exist is put back into the editor.

        Returns:
            Whether the text was a call; if not, it is a prompt for the model.
        """
        app = self._context.app
        match call_of(text, [command.name for command in self._context.runtime.commands()]):
            case CommandCall(command, argument):
                app.act(command.name, argument)
            case ShellCall() as call:
                app.run_worker(self._run_shell(call, text), group="commands")
            case UnknownCall(problem):
                app.prepend_to_draft([text])
                self._context.flash(problem)
            case None:
                return False
        return True

    async def _run_shell(self, call: ShellCall, text: str) -> None:
        """Run a shell command of the user. What cannot be started is put back into the editor."""
        try:
            await self._context.runtime.bash(call.command, exclude_from_context=call.exclude_from_context)
        except AgentcliError as error:
            self._context.controller.failure(error)
            self._context.app.prepend_to_draft([text])
        self._context.app.show_state()
