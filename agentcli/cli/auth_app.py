"""`agentcli auth …`: its commands, options and help."""

from enum import StrEnum
from typing import Annotated

import typer

from agentcli.cli.command_group import CommandGroup

app: CommandGroup = CommandGroup("Keys of model providers: store, remove and list them.")

Name = Annotated[str, typer.Argument(metavar="PROVIDER", help="As `agentcli models` names it before the slash.")]


class Store(StrEnum):
    KEYRING = "keyring"
    FILE = "file"


@app.command()
def login(
    provider: Name,
    store: Annotated[
        Store | None, typer.Option("--store", help="Where to keep it; without this, the keyring if there is one.")
    ] = None,
) -> None:
    """Store a provider's key. It is asked for without an echo, or read from standard input."""
    from agentcli.cli.auth_commands import log_in

    log_in(provider, None if store is None else store == Store.KEYRING)


@app.command()
def logout(provider: Name) -> None:
    """Remove a provider's stored key."""
    from agentcli.cli.auth_commands import log_out

    log_out(provider)


@app.command()
def status() -> None:
    """List the providers that have a key, and where it comes from. No key is shown."""
    from agentcli.cli.auth_commands import print_status

    print_status()
