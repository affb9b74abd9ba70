"""Landlock and seccomp: a fence of the Linux kernel that needs no other program, and no namespaces.

Each command begins as a small Python program (`landlock_inside`) that gives up what the policy does not allow, and then
becomes the shell. 40 ms a command.
"""

import json
import os
import shutil
import socket
import sys
from pathlib import Path

from agentcli.tools.sandbox.backend import Launch, Unavailable
from agentcli.tools.sandbox.landlock_inside import MACHINES, Fence, landlock_abi
from agentcli.tools.sandbox.policy import SandboxPolicy

_RUN = "import sys; sys.path.append(sys.argv[1]); import landlock_inside; landlock_inside.main(sys.argv[2:])"
_FIRST_WITH_TRUNCATE = 3
_FIRST_WITH_SIGNALS = 6
_LIMITS = """\
Names in hidden folders can be seen, but nothing in them; what is hidden inside a folder that can be written to is not
hidden. Permissions and times of files outside can be changed by their owner. .git/hooks, .git/config and .agentcli* are
put back after a command that has changed them. Temporary files, which lie on the disk, have no limit of their own;
/dev/shm is that of the system. A process that cuts all ties with its command may outlive it, and write such files later
(what has changed between two commands is told), and so may a command if agentcli is killed. A command cannot signal the
processes of another. There are no terminals (ptys) and no Unix
sockets, and without network no servers of its own either.""".replace("\n", " ")


class Landlock:
    """Args:
    private: a folder for its temporary files, made by `start` and removed by `close`.
    """

    name = "Landlock"
    keeps_protected = False
    listener: socket.socket | None = None

    def __init__(self, policy: SandboxPolicy, private: Path) -> None:
        self._policy = policy
        self._private = private
        self._abi = 0
        self.tmp: str = str(private / "tmp")
        self.limits = ""

    def start(self) -> None:
        self._abi = landlock_abi() if sys.platform.startswith("linux") else 0
        if self._abi == 0:
            raise Unavailable("this kernel has it not, or it is switched off")
        if self._abi < _FIRST_WITH_TRUNCATE:
            raise Unavailable(f"this kernel has version {self._abi} of it, which does not see files being emptied")
        if os.uname().machine not in MACHINES:
            raise Unavailable(f"its filter of system calls is not made for {os.uname().machine}")
        if self._policy.hosts is not None:
            raise Unavailable("it does not see which host a connection is for: its network is on or off")
        self.limits = _LIMITS
        if self._abi < _FIRST_WITH_SIGNALS:
            self.limits += " Processes outside, agentcli too, can be sent signals."
        Path(self.tmp).mkdir(mode=0o700, parents=True, exist_ok=True)

    def launch(self, argv: list[str], cwd: Path) -> Launch:
        policy = self._policy
        fence = Fence(
            writable=[*map(str, policy.folders()), self.tmp],
            hidden=[str(path) for path in policy.hidden_paths()],
            shown=[str(path) for path in policy.shown if path.exists()],
            network=policy.network,
        )
        enter = [os.path.realpath(sys.executable), "-I", "-S", "-c", _RUN, str(Path(__file__).parent)]
        return Launch([*enter, json.dumps(fence.__dict__), str(cwd), *argv])

    def close(self) -> None:
        """What runs is ended by its marks."""
        shutil.rmtree(self._private, ignore_errors=True)
