"""Sandbox: the back end that works here, and the commands that run in it."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.agent.errors import ConfigError, ToolError
from agentcli.tools.sandbox.backend import BackEnd, Launch, Unavailable
from agentcli.tools.sandbox.guard import Guard
from agentcli.tools.sandbox.policy import SandboxPolicy

if TYPE_CHECKING:
    from agentcli.tools.sandbox.proxy import HostProxy

_TIES = (
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY",
    "WAYLAND_DISPLAY", "DOCKER_HOST", "CONTAINER_HOST", "TMUX", "STY",
)  # fmt: skip
"""Variables that name what listens outside."""
_BETWEEN_LOOKS_S = 1.0


class Sandbox:
    """Args:
    policy: what it allows.
    private: a folder of this user's, for what a back end needs.
    only: the name of the only back end that is tried.

    Raises:
        ConfigError: nothing on this system enforces it.
    """

    def __init__(self, policy: SandboxPolicy, private: Path, only: str | None = None) -> None:
        policy = policy.prepared()
        self.policy: SandboxPolicy = policy
        self.refusals: list[str] = []
        """Why a back end that comes first was not taken, a line each."""
        # A signal handler may come upon its own thread in the middle of it.
        self._lock = threading.RLock()
        self._running = 0
        self._watching = False
        self._closed = threading.Event()
        self._told: list[str] = []
        self.proxy: HostProxy | None = _proxy_of(policy)
        self._served: socket.socket | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.back_end: BackEnd = self._first(private, only)
        self._guard = Guard(policy, keeps_protected=self.back_end.keeps_protected)

    def prepare(self) -> None:
        """Before a command, in the event loop that serves the proxy."""
        if self.proxy is not None:
            self._loop = asyncio.get_running_loop()
            self.proxy.begin_command()

    def launch(self, argv: list[str], cwd: Path) -> Launch:
        """What starts a command inside. Blocks; raises ToolError."""
        with self._lock:
            if not self._running:
                self._told += self._guard.note()
            self._running += 1
            self._watch()
            try:
                launch = self.back_end.launch(argv, cwd)
            except Unavailable as error:
                self._running -= 1
                raise ToolError(
                    f"The sandbox ({self.back_end.name}) works no more, so nothing was run: {error}",
                    hint="see: agentcli doctor",
                ) from None
            self._serve()
            return launch

    def _watch(self) -> None:
        """Put back what is changed while commands run too, where the back end does not keep it."""
        if self._watching or self.back_end.keeps_protected:
            return
        self._watching = True
        threading.Thread(target=self._restore_now_and_then, name="sandbox guard", daemon=True).start()

    def _restore_now_and_then(self) -> None:
        while not self._closed.wait(_BETWEEN_LOOKS_S):
            with self._lock:
                if not self._running:
                    break
                self._told += self._guard.restore()
        with self._lock:
            self._watching = False

    def _serve(self) -> None:
        loop, proxy, listener = self._loop, self.proxy, self.back_end.listener
        if loop is not None and proxy is not None and listener is not None and listener is not self._served:
            self._served = listener
            asyncio.run_coroutine_threadsafe(proxy.serve(listener), loop)

    def describe(self) -> str:
        """What it is and allows, as a clause."""
        return f"{self.policy.describe(self.back_end.tmp)} ({self.back_end.name}; see agentcli doctor)"

    def environment(self, env: dict[str, str]) -> dict[str, str]:
        """An environment for inside: without ties to outside, with caches where they can be written to."""
        kept = {name: value for name, value in env.items() if name not in _TIES}
        tmp = self.back_end.tmp
        caches = {"XDG_CACHE_HOME": f"{tmp}/.cache", "npm_config_cache": f"{tmp}/.npm"}
        if self.policy.writable:
            caches = {}  # the person has said where
        if self.back_end.listener is not None:
            from agentcli.tools.sandbox.proxy import proxy_variables

            kept |= proxy_variables(self.back_end.listener.getsockname()[1])
        return {**kept, **caches, "TMPDIR": tmp}

    def check(self, *, is_over: bool) -> None:
        """Put back what a command has changed that must stay as it is. Blocks.

        Args:
            is_over: whether nothing of the command runs any more.
        """
        with self._lock:
            if is_over:
                self._running = max(self._running - 1, 0)
            self._told += self._guard.restore()

    def take_notes(self) -> list[str]:
        """What was put back since the last time, a line each."""
        with self._lock:
            told, self._told = list(dict.fromkeys(self._told)), []
            return told

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            if self.proxy is not None and self._loop is not None:
                with contextlib.suppress(RuntimeError):  # its loop is closed
                    self._loop.call_soon_threadsafe(self.proxy.close)
            self.back_end.close()
            self._guard.restore()
            self._guard.forget()

    def _first(self, private: Path, only: str | None) -> BackEnd:
        for back_end in back_ends(self.policy, private):
            if only not in (None, back_end.name):
                continue
            try:
                back_end.start()
            except Unavailable as error:
                self.refusals.append(f"{back_end.name}: {error}")
            else:
                return back_end
        raise ConfigError(
            f"nothing on this system can be the sandbox that was asked for: {'; '.join(self.refusals)}",
            hint="install bubblewrap, or run without one: --sandbox off",
        )


def _proxy_of(policy: SandboxPolicy) -> "HostProxy | None":
    if policy.hosts is None:
        return None
    from agentcli.tools.sandbox.proxy import HostProxy

    return HostProxy(policy.hosts)


def back_ends(policy: SandboxPolicy, private: Path) -> Iterator[BackEnd]:
    """Those that there are, the best first."""
    from agentcli.tools.sandbox.bubblewrap import Bubblewrap

    yield Bubblewrap(policy)
    from agentcli.tools.sandbox.landlock import Landlock

    yield Landlock(policy, private)
    from agentcli.tools.sandbox.seatbelt import Seatbelt

    yield Seatbelt(policy, private)
