"""Where the command line starts: which command, and what a failure looks like."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentcli.agent.errors import AgentcliError
from agentcli.agent.text import printable
from agentcli.config.masking import mask

if TYPE_CHECKING:
    import typer


_HELP = frozenset(("-h", "--help"))


def run_command_line(arguments: list[str]) -> int:
    """Run a command. Returns the exit code, or exits with it; every expected failure is one line on stderr."""
    try:
        command, words = _everyday(arguments)
        if command is not None:
            from agentcli.cli.declare import quick_arguments

            if (quick := quick_arguments(command, words)) is not None:
                return command(**quick)
        from agentcli.cli.app import app

        _add_commands(app)
        return _run(app, arguments)
    except AgentcliError as error:
        from agentcli.headless.exit_codes import exit_code_of_error

        print(f"agentcli: {mask(printable(str(error)))}", file=sys.stderr)
        return exit_code_of_error(error)
    except KeyboardInterrupt:
        return 130
    except (RuntimeError, OSError, MemoryError) as error:
        from agentcli.agent.threads import shortage

        if (found := shortage(error)) is None:
            raise
        print(f"agentcli: {found}", file=sys.stderr)
        return 75
    finally:
        _tell_of_missing_locks()


def _tell_of_missing_locks() -> None:
    """What was written to without a lock; only commands that write have the module."""
    if (private_file := sys.modules.get("agentcli.config.private_file")) is not None:
        for line in private_file.unlocked_notices():
            print(f"agentcli: {printable(line)}", file=sys.stderr)


def _everyday(arguments: list[str]) -> tuple[Callable[..., int] | None, list[str]]:
    """The commands that are started again and again, which do without Typer where they can; and their words."""
    match arguments:
        case ["rpc", *words]:
            from agentcli.cli.rpc import rpc

            return rpc, words
        case ["run", *words]:
            from agentcli.cli.run import run

            return run, words
        case _ if not arguments or (arguments[0].startswith("-") and _HELP.isdisjoint(arguments)):
            from agentcli.cli.chat import open_chat

            return open_chat, arguments
        case _:
            return None, arguments


def _run(app: "typer.Typer", arguments: list[str]) -> int:
    """Run a command of Typer's. What stdout does not take is no traceback: a reader that went away is the code 141."""
    from typer._click.exceptions import ClickException, NoSuchOption  # Typer has no public names for its errors

    try:
        code = app(arguments, prog_name="agentcli", standalone_mode=False)
        sys.stdout.flush()
    except ClickException as error:
        if isinstance(error, NoSuchOption) and error.possibilities:
            from difflib import get_close_matches  # 5 ms, for those who mistype

            # Typer's own are of a likeness that `--trust` has to `--output`.
            error.possibilities = get_close_matches(error.option_name, error.possibilities, cutoff=0.75)
        error.show()
        return error.exit_code
    except SystemExit as end:
        # Typer ends so when the reader of stdout has gone away; what a shell knows that by is another code.
        return 141 if type(sys.stdout).__name__ == "PacifyFlushWrapper" else int(end.code or 0)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
        if isinstance(error, BrokenPipeError):
            return 141
        print(f"agentcli: the output could not be written: {error.strerror or error}", file=sys.stderr)
        return 1
    return code if isinstance(code, int) else 0


def _add_commands(app: "typer.Typer") -> None:
    from agentcli.cli import auth_app, config_app, doctor_app, sessions_app, trust_app

    app.add_typer(sessions_app.app, name="sessions")
    app.add_typer(config_app.app, name="config")
    app.add_typer(auth_app.app, name="auth")
    app.command()(trust_app.trust)
    app.command()(doctor_app.doctor)
