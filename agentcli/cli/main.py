"""Where the command line starts: which command, and what a failure looks like."""

import sys
from typing import TYPE_CHECKING

from agentcli.agent.errors import AgentcliError
from agentcli.agent.text import printable
from agentcli.config.masking import mask

if TYPE_CHECKING:
    import typer


def run_command_line(arguments: list[str]) -> int:
    """Run a command. Returns the exit code, or exits with it; every expected failure is one line on stderr."""
    try:
        if not arguments:
            from agentcli.cli.chat import open_chat

            return open_chat()
        if arguments[0] == "run":
            from agentcli.cli.declare import quick_arguments
            from agentcli.cli.run import run

            if (quick := quick_arguments(run, arguments[1:])) is not None:
                return run(**quick)
        from agentcli.cli.app import app

        _add_commands(app)
        app(arguments, prog_name="agentcli")
        return 0
    except AgentcliError as error:
        from agentcli.headless.exit_codes import exit_code_of_error

        print(f"agentcli: {mask(printable(str(error)))}", file=sys.stderr)
        return exit_code_of_error(error)
    except KeyboardInterrupt:
        return 130


def _add_commands(app: "typer.Typer") -> None:
    from agentcli.cli import auth_app, config_app, sessions_app, trust_app

    app.add_typer(sessions_app.app, name="sessions")
    app.add_typer(config_app.app, name="config")
    app.add_typer(auth_app.app, name="auth")
    app.command()(trust_app.trust)
