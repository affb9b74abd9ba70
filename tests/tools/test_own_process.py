"""What the system shows of agentcli to the commands that it runs."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, os, subprocess, sys
from agentcli.tools.bash.environment import hide_keys
hide_keys(frozenset({"SOME_TOKEN", "OTHER_KEY"}))
print(os.environ["SOME_TOKEN"], os.environ["OTHER_KEY"], os.environ["KEPT"])
print(subprocess.run(["sh", "-c", "tr '\\\\\\\\0' '\\\\\\\\n' < /proc/$PPID/environ"], capture_output=True, text=True).stdout)
print("dumpable", ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows it")
def test_keys_are_wiped_where_others_could_read_them_and_agentcli_has_them_still(tmp_path: Path) -> None:
    environment = {
        "SOME_TOKEN": "secret-1",
        "other_key": "secret-2",
        "OTHER_KEY": "secret=3",
        "KEPT": "kept-4",
        "PATH": "/usr/bin:/bin",
    }
    command = [sys.executable, "-c", PROGRAM.replace("\\\\\\\\", "\\\\")]
    done = subprocess.run(
        command, env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    first, rest = done.stdout.split("\n", 1)
    assert first == "secret-1 secret=3 kept-4"
    assert "secret" not in rest
    assert "KEPT=kept-4" in rest or "KEPT" not in rest, "a plain user may not even look"
    assert "dumpable 0" in rest
