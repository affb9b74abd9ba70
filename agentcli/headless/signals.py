"""Signals: a run that is told to stop stops in order, and its exit code says which signal it was."""

import asyncio
import os
import signal

from agentcli.runtime.runtime import Runtime

STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class StopSignals:
    """`with StopSignals(runtime) as stopping:` aborts the run on the first signal; a second one ends the process.

    `stopping.exit_code` is 128 + the signal's number once there was one, else None.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.exit_code: int | None = None

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
            self.runtime.kill_now()
            os._exit(128 + number)
        self.exit_code = 128 + number
        self.runtime.abort(f"stopped by {signal.Signals(number).name}")
