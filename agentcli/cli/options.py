"""Options that several commands share, each declared once."""

from pathlib import Path
from typing import Annotated

import typer

from agentcli.config.settings import PermissionMode

HELP = {"help_option_names": ["-h", "--help"]}
"""How every command is asked for help."""


def command_group(help: str) -> typer.Typer:
    """A command with commands of its own."""
    return typer.Typer(
        help=help, no_args_is_help=True, add_completion=False, rich_markup_mode=None, context_settings=HELP
    )


Model = Annotated[
    str | None, typer.Option("--model", "-m", metavar="PROVIDER/ID[:LEVEL]", help="The model, and how much it thinks.")
]
Continue = Annotated[bool, typer.Option("--continue", "-c", help="Go on with this folder's last session.")]
SessionReference = Annotated[
    str | None,
    typer.Option("--session", "-s", metavar="ID|PATH", help="Go on with a session; part of its id will do."),
]
NoSession = Annotated[bool, typer.Option("--no-session", help="Keep nothing on the disk.")]
Cwd = Annotated[Path | None, typer.Option("--cwd", "-C", metavar="FOLDER", help="Work in this folder.")]
Trust = Annotated[
    bool, typer.Option("--trust", help="Trust the project's .agentcli.toml as it is, this once (see agentcli trust).")
]
Mode = Annotated[
    PermissionMode | None,
    typer.Option("--permission-mode", help="Whether calls that no rule speaks of are asked, run, or only look."),
]
MaxTurns = Annotated[
    int | None,
    typer.Option("--max-turns", min=1, metavar="N", help="Stop after so many answers of the model: exit 3."),
]
