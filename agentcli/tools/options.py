"""ToolOptions: all that the tools are told from outside."""

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agentcli.tools.bash.command_output import ByteFilter
    from agentcli.tools.file_change import FileChange
    from agentcli.tools.sandbox.sandbox import Sandbox


class ToolOptions(Struct, kw_only=True):
    """Read at each call, so a change holds from the next call on."""

    cwd: Path
    """Where commands run and relative paths start. It need not exist."""
    hidden_env: frozenset[str] = frozenset()
    """Names of environment variables that commands do not get, whatever their case: those with keys."""
    extra_env: dict[str, str] = {}
    """Variables that commands get on top of the environment of agentcli; they win over everything else."""
    shell: Path | None = None
    """The shell that runs commands; None takes `/bin/bash`, then `bash` or `sh` from PATH."""
    sandbox: "Sandbox | None" = None
    """What the commands of the model run in; None is nothing."""
    bash_timeout_s: float = 300.0
    """How long a command may run if its call does not say."""
    search_timeout_s: float = 60.0
    """How long one call of grep or find may search. What was found until then is shown."""
    spill_dir: Path | None = None
    """Folder in which the private folder for long outputs is made; None takes the folder for temporary files."""
    spill_limit: int = 100 << 20
    """Bytes that are kept of one output; what comes after is counted and dropped."""
    kept_output: "Callable[[], ByteFilter] | None" = None
    """Makes what takes keys out of one output before it is kept; None keeps it as it is."""
    image_input: bool = True
    """Whether `read` may give images to the model; without it, it only describes them."""
    before_change: "Callable[[FileChange], Awaitable[None]] | None" = None
    """Awaited in each call that may change files, before it does; None if nobody listens."""
    max_lines: int = 2000
    """Lines of one result."""
    max_bytes: int = 50 * 1024
    """Bytes of one result, as UTF-8."""
