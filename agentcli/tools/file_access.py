"""FileAccess: what the file tools of one toolset share: the queue of changes and the states the model has seen."""

from agentcli.tools.file_queue import FileQueue
from agentcli.tools.known_files import KnownFiles


class FileAccess:
    def __init__(self) -> None:
        self.queue = FileQueue()
        self.known = KnownFiles()
