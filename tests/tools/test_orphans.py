"""What a killed agentcli left running is found by its mark, and nothing else is touched."""

import os
import subprocess
import sys

from agentcli.tools.bash.orphans import MARK_PREFIX, end_orphans, mark_name


def dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def sleeping(**environment: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "60"], env={**os.environ, **environment})


def test_only_commands_whose_owner_is_gone_are_ended():
    orphan = sleeping(**{f"{MARK_PREFIX}{dead_pid()}_0123456789abcdef": "1"})
    ours = sleeping(**{mark_name(): "1"})
    stranger = sleeping()
    try:
        assert orphan.pid in end_orphans()
        assert orphan.wait(5) == -9
        assert (ours.poll(), stranger.poll()) == (None, None)
    finally:
        for process in (orphan, ours, stranger):
            process.kill()
            process.wait()
