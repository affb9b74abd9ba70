"""Where the command line starts: which command, and what a failure looks like."""

import sys

from agentcli.agent.errors import AgentcliError
from agentcli.agent.text import printable


def run_command_line(arguments: list[str]) -> int:
    """Run a command. Returns the exit code, or exits with it; every expected failure is one line on stderr."""
    try:
        if not arguments:
            from agentcli.cli.chat import open_chat

            return open_chat()
        from agentcli.cli.app import app

        app(arguments, prog_name="agentcli")
        return 0
    except AgentcliError as error:
        from agentcli.headless.exit_codes import exit_code_of_error

        print(f"agentcli: {printable(str(error))}", file=sys.stderr)
        return exit_code_of_error(error)
    except KeyboardInterrupt:
        return 130
