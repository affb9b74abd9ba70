"""Options that several commands share, each declared once."""

from pathlib import Path
from typing import Annotated

from agentcli.cli.declare import option
from agentcli.config.settings import PermissionMode, SandboxMode
from agentcli.headless.output_format import OutputFormat

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
Sandbox = Annotated[
    SandboxMode | None, option("--sandbox", help="What the agent's commands may write to (see agentcli doctor).")
]
MaxTurns = Annotated[
    int | None, option("--max-turns", min=1, metavar="N", help="Stop after so many answers of the model: exit 3.")
]
MaxTokens = Annotated[
    int | None,
    option("--max-tokens", min=1, metavar="N", help="Stop when so many tokens are used, in and out: exit 3."),
]
MaxCost = Annotated[
    float | None, option("--max-cost", min=0, metavar="DOLLARS", help="Stop when it has cost so much: exit 3.")
]
Timeout = Annotated[
    float | None, option("--timeout", min=0.001, metavar="SECONDS", help="Stop after so much time: exit 3.")
]
Output = Annotated[
    OutputFormat, option("--output", "-o", help="The answer; one JSON result; or every event as a line of JSON.")
]
Schema = Annotated[
    Path | None,
    option("--schema", metavar="FILE", help="The answer must be JSON that fits this JSON Schema (see below)."),
]
NoMouse = Annotated[
    bool, option("--no-mouse", help="Leave the mouse to the terminal: its own selection and scrolling.")
]
