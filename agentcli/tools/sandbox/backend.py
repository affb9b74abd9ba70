"""Back ends: what enforces a policy. Each says why it cannot, or turns a command into one that runs inside."""

import os
import shutil
import socket
from pathlib import Path
from typing import Protocol

from msgspec import Struct


class Unavailable(Exception):
    """Why a back end does not work here, as a clause."""


def trusted_program(name: str, cwd: Path) -> str | None:
    """A program from PATH, and not one that the working folder has put there."""
    own = Path(os.path.realpath(cwd))
    places = []
    for folder in os.get_exec_path():
        real = Path(os.path.realpath(folder))
        if folder.startswith("/") and real != own and own not in real.parents:
            places.append(folder)
    return shutil.which(name, path=os.pathsep.join([*places, "/usr/bin", "/bin", "/usr/sbin", "/sbin"]))


class Launch(Struct, frozen=True):
    """How a process is started."""

    argv: list[str]
    """The first is the program."""
    descriptors: tuple[int, ...] = ()
    """Open files that it inherits."""


class BackEnd(Protocol):
    name: str
    tmp: str
    """The folder for temporary files, as commands see it."""
    limits: str
    """What it cannot do, as sentences; empty if it can do all."""

    keeps_protected: bool
    """Whether what the policy protects cannot be changed by commands. Else it is put back after them."""

    listener: socket.socket | None
    """A listening TCP socket that commands reach, if the policy names hosts; for the proxy."""

    def start(self) -> None:
        """Make it ready, and try it. Blocks. Raises Unavailable."""
        ...

    def launch(self, argv: list[str], cwd: Path) -> Launch:
        """Blocks shortly. Raises Unavailable if it works no more."""
        ...

    def close(self) -> None:
        """End everything that runs inside, as far as the back end can."""
        ...
