"""Standard input: what was piped in for a prompt, or comes line by line. Reading never blocks the event loop."""

import asyncio
import os
import select
import stat
import sys
from collections.abc import AsyncIterator

from agentcli.agent.errors import UsageError

WAIT_S = 1.0
"""How long a run that has a prompt waits for the first byte of a pipe."""

MAX_BYTES = 10 << 20

BLOCK = 1 << 16


async def read_piped(*, has_prompt: bool) -> tuple[str, str | None]:
    """What was piped in (empty on a terminal), and a notice for the person, if any.

    Raises:
        UsageError: it is more than a prompt can be.
    """
    try:
        descriptor = sys.stdin.fileno()
        mode = os.fstat(descriptor).st_mode
    except (AttributeError, OSError, ValueError):
        return "", None
    if os.isatty(descriptor):
        return "", None
    waits = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
    if has_prompt and waits and not await _is_ready_soon(descriptor):
        return "", f"nothing came on standard input within {WAIT_S:g} s; going on without it"
    data = bytearray()
    async for block in blocks(descriptor):
        data += block
        if len(data) > MAX_BYTES:
            hint = "write it to a file and name the file in the prompt"
            raise UsageError(f"standard input is longer than {MAX_BYTES >> 20} MiB", hint=hint)
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        notice = f"standard input is not UTF-8 (byte {error.start + 1}); what cannot be read is replaced"
        return data.decode("utf-8", "replace"), notice


async def blocks(descriptor: int) -> AsyncIterator[bytes]:
    """What comes, in blocks, until its end. A stream that breaks has ended."""
    while True:
        await _ready(descriptor)
        try:
            block = os.read(descriptor, BLOCK)
        except BlockingIOError:
            continue
        except OSError:
            return
        if not block:
            return
        yield block


async def _is_ready_soon(descriptor: int) -> bool:
    try:
        await asyncio.wait_for(_ready(descriptor), WAIT_S)
    except TimeoutError:
        return False
    return True


async def _ready(descriptor: int) -> None:
    """Return when a read does not block. Files and devices like /dev/null, which no loop can watch, always are."""
    if select.select([descriptor], [], [], 0)[0]:
        await asyncio.sleep(0)
        return
    loop = asyncio.get_running_loop()
    woken = loop.create_future()
    loop.add_reader(descriptor, lambda: None if woken.done() else woken.set_result(None))
    try:
        await woken
    finally:
        loop.remove_reader(descriptor)


async def lines(descriptor: int, longest: int) -> AsyncIterator[bytes | None]:
    """What comes, line by line, without the LF that ends each; nothing else ends a line. Blank lines are left out.

    Args:
        longest: bytes that a line may have. One that has more is passed over, and None stands for it.
    """
    line = bytearray()
    is_too_long = False
    async for block in blocks(descriptor):
        *ended, rest = block.split(b"\n")
        for part in ended:
            line += part
            if is_too_long or len(line) > longest:
                yield None
            elif line.strip():
                yield bytes(line)
            line.clear()
            is_too_long = False
        line += rest
        if len(line) > longest:
            line.clear()
            is_too_long = True
    if is_too_long:
        yield None
    elif line.strip():
        yield bytes(line)
