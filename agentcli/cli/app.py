"""The commands, their options and their help."""

from typing import Annotated

import typer

from agentcli.cli import options

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=options.HELP,
    help="A coding agent in your terminal. Without a command it opens the app in this folder.",
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
    trust: options.Trust = False,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
) -> None:
    if version:
        from agentcli.version import __version__

        print(f"agentcli {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from agentcli.cli.chat import open_chat

        raise typer.Exit(open_chat(model, continue_, session, no_session, cwd, permission_mode, trust))
    if model or continue_ or session or no_session or cwd or permission_mode or trust:
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
    permission_mode: options.Mode = None,
    trust: options.Trust = False,
) -> None:
    """Work once on a prompt: the answer on stdout, the rest on stderr.

    What is piped in comes before the prompt. Exit codes: 0 done; 1 the agent or the provider failed; 2 usage,
    configuration or credentials; 3 stopped by a limit; 75 failed, but worth trying again.
    """
    from agentcli.cli.run import run_prompt
    from agentcli.runtime.session_choice import SessionChoice

    choice = SessionChoice(continue_=continue_, reference=session, in_memory=no_session, cwd=cwd)
    raise typer.Exit(run_prompt(prompt or [], choice, model, max_turns, permission_mode, trust))


@app.command()
def models(
    search: Annotated[str | None, typer.Argument(metavar="[SEARCH]", help="A part of the id or name.")] = None,
    discover: Annotated[bool, typer.Option("--discover", help="Also ask local servers on their usual ports.")] = False,
) -> None:
    """List the models, with their context window, price per million tokens, and whether there is a key."""
    from agentcli.cli.models import print_models

    print_models(search, discover)
