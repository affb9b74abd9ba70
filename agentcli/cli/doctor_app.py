"""`agentcli doctor`: its options and help."""

import typer

from agentcli.cli import options


def doctor(sandbox: options.Sandbox = None, cwd: options.Cwd = None) -> None:
    """Say what of agentcli works on this machine, and what the sandbox of commands is and is not.

    Exits with 1 if something that the settings ask for cannot be had.
    """
    from agentcli.cli.doctor import examine

    raise typer.Exit(examine(cwd, sandbox))
