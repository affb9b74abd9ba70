"""Options that several commands share, each declared once."""

from pathlib import Path
from typing import Annotated

from agentcli.cli.declare import option
from agentcli.config.settings import PermissionMode

Model = Annotated[
    str | None, option("--model", "-m", metavar="PROVIDER/ID[:LEVEL]", help="The model, and how much it thinks.")
]
Continue = Annotated[bool, option("--continue", "-c", help="Go on with this folder's last session.")]
SessionReference = Annotated[
    str | None, option("--session", "-s", metavar="ID|PATH", help="Go on with a session; part of its id will do.")
]
NoSession = Annotated[bool, option("--no-session", help="Keep nothing on the disk.")]
Cwd = Annotated[Path | None, option("--cwd", "-C", metavar="FOLDER", help="Work in this folder.")]
Trust = Annotated[
    bool, option("--trust", help="Trust the project's .agentcli.toml as it is, this once (see agentcli trust).")
]
Mode = Annotated[
    PermissionMode | None,
    option("--permission-mode", help="Whether calls that no rule speaks of are asked, run, or only look."),
]
MaxTurns = Annotated[
    int | None, option("--max-turns", min=1, metavar="N", help="Stop after so many answers of the model: exit 3.")
]
