"""`agentcli config …`: its commands, options and help."""

from typing import Annotated

import typer

from agentcli.cli import options
from agentcli.cli.command_group import CommandGroup

app: CommandGroup = CommandGroup("Settings: show, change and check them.")

Key = Annotated[str, typer.Argument(metavar="KEY", help='Like bash_timeout, retry.max_retries or models."a/b".input.')]


@app.command()
def show(
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
    cwd: options.Cwd = None,
    trust: options.Trust = False,
) -> None:
    """Print every setting as it holds in this folder."""
    from agentcli.cli.config_commands import print_settings

    print_settings(origin=origin, cwd=cwd, trust=trust)


@app.command()
def get(key: Key, cwd: options.Cwd = None, trust: options.Trust = False) -> None:
    """Print one setting as it holds in this folder."""
    from agentcli.cli.config_commands import print_setting

    print_setting(key, cwd=cwd, trust=trust)


@app.command("set", context_settings={"ignore_unknown_options": True})
def set_(key: Key, value: Annotated[str, typer.Argument(help="A TOML value, or a text.")]) -> None:
    """Change one setting in config.toml. Comments stay."""
    from agentcli.cli.config_commands import change_setting

    change_setting(key, value)


@app.command()
def edit() -> None:
    """Open config.toml in your editor (external_editor, $VISUAL, $EDITOR), and check it afterwards."""
    from agentcli.cli.config_commands import edit_settings

    raise typer.Exit(edit_settings())


@app.command()
def validate(cwd: options.Cwd = None) -> None:
    """Check config.toml, the project's file and the variables. Exit code 2 if something is wrong."""
    from agentcli.cli.config_commands import validate_settings

    raise typer.Exit(validate_settings(cwd))


@app.command()
def schema() -> None:
    """Print the JSON Schema of config.toml, for editors."""
    from agentcli.cli.config_commands import print_schema

    print_schema()


@app.command()
def prompt(
    short: Annotated[bool, typer.Option("--short", help="Only the parts and what they cost.")] = False,
    cwd: options.Cwd = None,
    trust: options.Trust = False,
) -> None:
    """Print what the model is told before the first message, and what each part costs in tokens (estimated)."""
    from agentcli.cli.config_commands import print_prompt

    print_prompt(short=short, cwd=cwd, trust=trust)
