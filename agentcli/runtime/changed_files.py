"""ChangedFiles: the files that `edit` and `write` have changed."""

from pathlib import Path

from agentcli.agent.events import MessageEndEvent
from agentcli.agent.messages import ToolResultMessage

_CHANGING = ("edit", "write")


class ChangedFiles:
    """Learns it from the results of the tools.

    Args:
        cwd: the working directory; a path inside of it is shown from there.
    """

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._paths: dict[str, None] = {}

    @property
    def paths(self) -> list[str]:
        """Each once, in the order in which they were first changed."""
        return list(self._paths)

    def on_event(self, event: object, signal: object) -> None:
        if not isinstance(event, MessageEndEvent) or not isinstance(event.message, ToolResultMessage):
            return
        result = event.message
        if result.tool_name not in _CHANGING or result.is_error or not isinstance(result.details, dict):
            return
        if isinstance(path := result.details.get("path"), str):
            self._paths[self._shown(Path(path))] = None

    def _shown(self, path: Path) -> str:
        if ".." in path.parts:
            # What `..` means after a link, only the file system knows.
            path = path.parent.resolve() / path.name
        for folder in (self._cwd, self._cwd.resolve()):
            if path.is_relative_to(folder):
                return str(path.relative_to(folder))
        return str(path)
