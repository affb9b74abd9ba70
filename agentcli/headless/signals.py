"""Signals: work that is told to stop stops in order, and its exit code says which signal it was."""

import asyncio
import os
import signal

from agentcli.agent.abort import AbortController, AbortSignal
from agentcli.runtime.runtime import Runtime

STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class StopSignals:
    """`with StopSignals() as stopping:` fires `stopping.signal` on the first signal; a second one ends the process.

    `stopping.runtime`, once it is set, is aborted with it. `stopping.exit_code` is 128 + the signal's number once there
    was one, else None.
    """

    def __init__(self, runtime: Runtime | None = None) -> None:
        self.runtime = runtime
        self.exit_code: int | None = None
        self._controller = AbortController()

    @property
    def signal(self) -> AbortSignal:
        return self._controller.signal

    def __enter__(self) -> "StopSignals":
        loop = asyncio.get_running_loop()
        for number in STOPPING:
            loop.add_signal_handler(number, self._stop, number)
        return self

    def __exit__(self, *error: object) -> None:
        loop = asyncio.get_running_loop()
        for number in STOPPING:
            loop.remove_signal_handler(number)

    def _stop(self, number: int) -> None:
        if self.exit_code is not None:
            if self.runtime is not None:
                self.runtime.kill_now()
            os._exit(128 + number)
        self.exit_code = 128 + number
        reason = f"stopped by {signal.Signals(number).name}"
        if self.runtime is not None:
            self.runtime.abort(reason)
        self._controller.abort(reason)
