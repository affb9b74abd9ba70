"""A process that has imported agentcli and forks a child for each command: 20 ms of work in place of 250 ms of imports.

Run as a program it is the server: each request on its socket carries the three standard streams of a command, and is
answered by the child's pid at once and by its exit status when it ends.
"""

import contextlib
import importlib
import json
import os
import pkgutil
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

_MAX_REQUEST = 1 << 20
_MAX_ANSWER = 16


class ForkServer:
    """Starts the server when the first command is asked for; it ends with this process."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def start(
        self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: int | IO[Any] | None
    ) -> "ForkedProcess":
        """A child that runs `agentcli` with these arguments; its output goes into pipes.

        Args:
            stdin: as for `subprocess.Popen`.
        """
        if self._socket is None:
            self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                theirs.set_inheritable(True)
                command = [sys.executable, "-m", "tests.cli.fork_server", str(theirs.fileno())]
                environ = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(Path(__file__).parents[2])}
                os.posix_spawn(sys.executable, command, environ)
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ends = [os.pipe(), os.pipe(), os.pipe()]
        (input_end, to_stdin), (from_stdout, out_end), (from_stderr, err_end) = ends
        if stdin == subprocess.DEVNULL:
            os.close(input_end)
            input_end = os.open(os.devnull, os.O_RDONLY)
        elif stdin != subprocess.PIPE:
            os.close(input_end)
            input_end = os.dup(stdin if isinstance(stdin, int) else stdin.fileno())  # type: ignore[union-attr]
        request = json.dumps({"argv": list(argv), "cwd": str(cwd), "environment": dict(environment)}).encode()
        assert len(request) < _MAX_REQUEST
        descriptors = [input_end, out_end, err_end, theirs.fileno()]
        socket.send_fds(self._socket, [request], descriptors)
        theirs.close()
        for descriptor in descriptors[:3]:
            os.close(descriptor)
        if stdin != subprocess.PIPE:
            os.close(to_stdin)
            to_stdin = -1
        return ForkedProcess(mine, to_stdin, from_stdout, from_stderr)


class ForkedProcess:
    """A child of the server, with what the tests use of `subprocess.Popen`."""

    def __init__(self, connection: socket.socket, stdin: int, stdout: int, stderr: int) -> None:
        self._connection = connection
        self.stdin = os.fdopen(stdin, "w") if stdin >= 0 else None
        self.stdout = os.fdopen(stdout)
        self.stderr = os.fdopen(stderr)
        self.returncode: int | None = None
        self.pid = int(connection.recv(_MAX_ANSWER))

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._connection], [], [], 0)[0]:
            self.returncode = int(self._connection.recv(_MAX_ANSWER))
            self._connection.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None and not select.select([self._connection], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("agentcli", timeout or 0)
        code = self.poll()
        assert code is not None
        return code

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        out: list[str] = []
        err: list[str] = []

        def write() -> None:
            if self.stdin is not None and not self.stdin.closed:
                with contextlib.suppress(BrokenPipeError):
                    self.stdin.write(input or "")
                with contextlib.suppress(BrokenPipeError):
                    self.stdin.close()

        work = [
            threading.Thread(target=write),
            threading.Thread(target=lambda: out.append(self.stdout.read())),
            threading.Thread(target=lambda: err.append(self.stderr.read())),
        ]
        for thread in work:
            thread.start()
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        finally:
            for thread in work:
                thread.join()
            self.stdout.close()
            self.stderr.close()
        return out[0], err[0]

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def serve(requests: socket.socket) -> dict[str, Any] | None:
    """Fork for each request until the other end is closed. Returns a request in the child that runs it."""
    _import_all()
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    children: dict[int, socket.socket] = {}
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    selector.register(wake, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj == wake:
                os.read(wake, 4096)
                _report(children)
                continue
            request, descriptors, _, _ = socket.recv_fds(requests, _MAX_REQUEST, 4)
            if not request:
                return None
            *streams, answers = descriptors
            connection = socket.socket(fileno=answers)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                for opened in (requests, connection, selector, *children.values()):
                    opened.close()
                for descriptor in (wake, woken, *streams):
                    os.close(descriptor)
                return json.loads(request)
            for stream in streams:
                os.close(stream)
            children[pid] = connection
            connection.send(b"%d" % pid)


def _report(children: dict[int, socket.socket]) -> None:
    """Tell the exit status of those that have ended."""
    for pid in list(children):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with children.pop(pid) as connection, contextlib.suppress(OSError):
                connection.send(b"%d" % os.waitstatus_to_exitcode(status))


def _import_all() -> None:
    """What commands import sooner or later: all of agentcli but the app and the clouds, and its libraries."""
    import httpx
    import typer.core
    import typer.rich_utils  # noqa: F401

    import agentcli

    for module in pkgutil.walk_packages(agentcli.__path__, "agentcli."):
        if not module.name.startswith(("agentcli.tui", "agentcli.__main__")):
            importlib.import_module(module.name)
    httpx.Client().close()


if __name__ == "__main__":
    if request := serve(socket.socket(fileno=int(sys.argv[1]))):
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["environment"])
        time.tzset()
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
        sys.argv = ["agentcli", *request["argv"]]
        from agentcli.__main__ import main

        main()
