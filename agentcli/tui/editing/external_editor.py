"""ExternalEditor: a draft in the user's own editor, while the agent continues.

The editor gets the terminal as a shell would give it to a job: its Ctrl+C and Ctrl+Z are for it alone.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from agentcli.agent.errors import UsageError
from agentcli.agent.threads import to_thread
from agentcli.config.editor_command import editor_command
from agentcli.files.reading import FileProblem, read_bytes

MAX_BYTES = 64 << 20
POLL_S = 0.2
"""Seconds between two checks whether the app ends, which ends the editor."""


async def edit_outside(app: App[Any], setting: str | None, text: str) -> str:
    """The text as the editor left it, with LF and without the final newline. The app waits meanwhile.

    Args:
        app: whose terminal the editor gets.
        setting: the editor's command; None is what the environment says.
        text: what is edited.

    Raises:
        UsageError: there is no editor, it cannot be run, or it fails; the draft is unchanged.
    """
    command = editor_command(setting)
    try:
        with tempfile.TemporaryDirectory(prefix="agentcli-") as folder:
            path = Path(folder) / "prompt.md"
            path.write_text(text, encoding="utf-8", newline="")
            code = await _run_in_terminal(app, [*command, str(path)])
            if code != 0:
                reason = f"signal {-code}" if code < 0 else f"code {code}"
                raise UsageError(f"{command[0]} ended with {reason}", hint="the draft is as it was")
            written = read_bytes(path, MAX_BYTES).decode("utf-8-sig", "replace")
    except SuspendNotSupported:
        raise UsageError("this terminal cannot be given to an editor", hint="write here") from None
    except FileProblem as error:
        raise UsageError(f"{command[0]} left no text: {error.reason}", hint="the draft is as it was") from None
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be run: {error.strerror}", hint="the draft is as it was") from None
    return written.replace("\r\n", "\n").removesuffix("\n")


class _AppEnds(Exception):
    """The app ends, so the terminal is not given back to it."""


async def _run_in_terminal(app: App[Any], argv: list[str]) -> int:
    """The exit code. Raises `OSError` if there is no such program, `SuspendNotSupported` if there is no terminal."""
    failure: OSError | None = None
    code = 0
    # Nothing is painted while the terminal is the editor's.
    with contextlib.suppress(_AppEnds), app.batch_update(), app.suspend():
        try:
            code = await _run(app, argv)
        except OSError as error:
            # An error that went through `suspend` would leave the app without a terminal.
            failure = error
        if app.return_code is not None:
            raise _AppEnds
    if failure is not None:
        raise failure
    return code


async def _run(app: App[Any], argv: list[str]) -> int:
    # Without this, taking the terminal back from the background would stop this process.
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        process = await to_thread(subprocess.Popen, argv, process_group=0)
        waiting = asyncio.create_task(to_thread(_wait_in_front, process))
        while not waiting.done():
            await asyncio.wait([waiting], timeout=POLL_S)
            if app.return_code is not None and not waiting.done():
                process.send_signal(signal.SIGTERM)
        return waiting.result()
    finally:
        signal.signal(signal.SIGTTOU, before)


def _wait_in_front(process: "subprocess.Popen[bytes]") -> int:
    """Wait for the editor, which has the terminal. When it is stopped, so are we, and the shell is in front."""
    terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    try:
        while True:
            os.tcsetpgrp(terminal, process.pid)
            os.killpg(process.pid, signal.SIGCONT)
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode
            if os.WSTOPSIG(status) not in (signal.SIGTTIN, signal.SIGTTOU):
                os.tcsetpgrp(terminal, os.getpgrp())
                _stop_too(terminal)
    finally:
        os.tcsetpgrp(terminal, os.getpgrp())
        os.close(terminal)


def _stop_too(terminal: int) -> None:
    """Stop this process; return when the shell has brought it back to the front."""
    os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        # The stop comes while this thread sleeps, at the latest.
        time.sleep(POLL_S)
        if os.tcgetpgrp(terminal) == os.getpgrp():
            return
