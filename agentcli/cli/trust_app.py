"""`agentcli trust`: its options and help."""

from typing import Annotated

import typer

from agentcli.cli import options


def trust(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Without a question.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Trust nothing in this folder any more.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List every trusted file.")] = False,
    cwd: options.Cwd = None,
) -> None:
    """Trust what this project says of agentcli: .agentcli.toml, .agentcli/SYSTEM.md and APPEND_SYSTEM.md as they are.

    Until then, what they say of servers, keys, commands, tools and permissions is ignored; and again once they change.
    """
    from agentcli.cli.trust import trust_project

    trust_project(cwd, yes=yes, remove=remove, list_=list_)
