"""The commands, their options and their help."""

from functools import wraps
from typing import Annotated, Any

import typer

from agentcli.cli import options
from agentcli.cli.command_group import CommandGroup
from agentcli.cli.rpc import rpc
from agentcli.cli.run import run

app: CommandGroup = CommandGroup(
    "A coding agent in your terminal. Without a command it opens the app in this folder.",
    no_args_is_help=False,
    add_completion=True,
)


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    model: options.Model = None,
    continue_: options.Continue = False,
    session: options.SessionReference = None,
    no_session: options.NoSession = False,
    cwd: options.Cwd = None,
    permission_mode: options.Mode = None,
    sandbox: options.Sandbox = None,
    trust: options.Trust = False,
    no_mouse: options.NoMouse = False,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
) -> None:
    if version:
        from agentcli.version import __version__

        print(f"agentcli {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from agentcli.cli.chat import open_chat

        raise typer.Exit(
            open_chat(model, continue_, session, no_session, cwd, permission_mode, sandbox, trust, no_mouse)
        )
    if model or continue_ or session or no_session or cwd or permission_mode or sandbox or trust or no_mouse:
        context.fail("options of the app stand alone; put those of a command after the command")


@app.command("run")
@wraps(run)
def run_and_exit(**arguments: Any) -> None:
    raise typer.Exit(run(**arguments))


@app.command("rpc")
@wraps(rpc)
def rpc_and_exit(**arguments: Any) -> None:
    raise typer.Exit(rpc(**arguments))


@app.command()
def models(
    search: Annotated[str | None, typer.Argument(metavar="[SEARCH]", help="A part of the id or name.")] = None,
    discover: Annotated[bool, typer.Option("--discover", help="Also ask local servers on their usual ports.")] = False,
) -> None:
    """List the models, with their context window, price per million tokens, and whether there is a key."""
    from agentcli.cli.models import print_models

    print_models(search, discover)
