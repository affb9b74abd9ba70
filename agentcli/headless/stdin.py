"""Standard input of a one-shot run: what was piped in becomes part of the prompt."""

import os
import select
import stat
import sys

from agentcli.agent.errors import UsageError

WAIT_S = 1.0
"""How long a run that has a prompt waits for the first byte of a pipe."""

MAX_BYTES = 10 << 20


def read_piped(*, has_prompt: bool) -> tuple[str, str | None]:
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
    if has_prompt and waits and not select.select([descriptor], [], [], WAIT_S)[0]:
        return "", f"nothing came on standard input within {WAIT_S:g} s; going on without it"
    data = bytearray()
    while chunk := os.read(descriptor, 1 << 16):
        data += chunk
        if len(data) > MAX_BYTES:
            hint = "write it to a file and name the file in the prompt"
            raise UsageError(f"standard input is longer than {MAX_BYTES >> 20} MiB", hint=hint)
    try:
        return data.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        notice = f"standard input is not UTF-8 (byte {error.start + 1}); what cannot be read is replaced"
        return data.decode("utf-8", "replace"), notice
