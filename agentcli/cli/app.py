"""The commands, their options and their help."""

from pathlib import Path
from typing import Annotated

import typer

from agentcli.cli import options

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A coding agent in your terminal. Without a command it opens the app in this folder.",
)
sessions = typer.Typer(help="Sessions: list them, look at one, go on with one.", no_args_is_help=True)
app.add_typer(sessions, name="sessions")


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    model: options.Model = None,
    continue_: options.Continue = False,
    session: options.SessionReference = None,
    no_session: options.NoSession = False,
    cwd: options.Cwd = None,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
) -> None:
    if version:
        from agentcli.version import __version__

        print(f"agentcli {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from agentcli.cli.chat import open_chat

        raise typer.Exit(open_chat(model, continue_, session, no_session, cwd))
    if model or continue_ or session or no_session or cwd:
        context.fail("options of the app stand alone; put those of a command after the command")


@app.command()
def run(
    prompt: Annotated[
        list[str] | None, typer.Argument(metavar="[PROMPT | @FILE]...", help="What to do; @FILE attaches a file.")
    ] = None,
    model: options.Model = None,
    continue_: options.Continue = False,
    session: options.SessionReference = None,
    no_session: options.NoSession = False,
    cwd: options.Cwd = None,
    max_turns: options.MaxTurns = None,
) -> None:
    """Work once on a prompt: the answer on stdout, the rest on stderr.

    What is piped in comes before the prompt. Exit codes: 0 done; 1 the agent or the provider failed; 2 usage,
    configuration or credentials; 3 stopped by a limit; 75 failed, but worth trying again.
    """
    from agentcli.cli.run import run_prompt

    raise typer.Exit(run_prompt(prompt or [], model, continue_, session, no_session, cwd, max_turns))


@app.command()
def models(
    search: Annotated[str | None, typer.Argument(metavar="[SEARCH]", help="A part of the id or name.")] = None,
    discover: Annotated[bool, typer.Option("--discover", help="Also ask local servers on their usual ports.")] = False,
) -> None:
    """List the models, with their context window, price per million tokens, and whether there is a key."""
    from agentcli.cli.models import print_models

    print_models(search, discover)


@sessions.command("list")
def list_sessions(
    all_: Annotated[bool, typer.Option("--all", "-a", help="Those of every folder.")] = False,
    cwd: options.Cwd = None,
) -> None:
    """List this folder's sessions, last used first."""
    from agentcli.cli.sessions import print_list

    print_list(all_, cwd)


@sessions.command("show")
def show_session(session: Annotated[str, typer.Argument(metavar="ID|PATH")]) -> None:
    """Print a session's conversation."""
    from agentcli.cli.sessions import print_session

    print_session(session)


@sessions.command("resume")
def resume_session(
    session: Annotated[str | None, typer.Argument(metavar="[ID|PATH]")] = None,
    model: options.Model = None,
    cwd: Annotated[Path | None, typer.Option("--cwd", "-C", metavar="FOLDER", help="Work in this folder.")] = None,
) -> None:
    """Open the app on a session: this folder's last one, unless you name another."""
    from agentcli.cli.chat import open_chat

    raise typer.Exit(open_chat(model, session is None, session, False, cwd))
