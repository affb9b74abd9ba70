"""The first process of a bubblewrap sandbox: it keeps it alive until agentcli lets go of it, or dies. Standard library.

Runs as PID 1 inside, by its text (`python -I -S -c`): agentcli's own files may not be visible there. Its end is that of
everything in its PID namespace.
"""

import ctypes
import os
import signal
import socket
import sys

_PR_SET_DUMPABLE = 4
_PORT = 61080
"""The network is the sandbox's own. After an exchange of the folder it is the same."""


def main() -> None:
    # Nothing inside may look into it or hold its input open.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries what is left to it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if len(sys.argv) > 1:
        # A listener of this network, served by agentcli, which is outside of it.
        listener = socket.create_server(("127.0.0.1", _PORT), backlog=128)
        with socket.socket(fileno=int(sys.argv[1])) as channel:
            socket.send_fds(channel, [b"ready"], [listener.fileno()])
        listener.close()
    os.write(1, b"ready\n")
    os.close(1)
    while os.read(0, 1):
        pass


if __name__ == "__main__":
    main()
