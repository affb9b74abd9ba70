"""Run a command and print what it took, as JSON on the last line: `launch.py keep|drop COMMAND …`.

Small on purpose, with few imports: what it starts begins with its memory.
"""

import os
import sys
import time

keep = sys.argv[1] == "keep"
command = sys.argv[2:]
nowhere = os.open(os.devnull, os.O_RDWR)
actions = [(os.POSIX_SPAWN_DUP2, nowhere, 0)] + ([] if keep else [(os.POSIX_SPAWN_DUP2, nowhere, 1)])
started = time.monotonic()
pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
_, status, usage = os.wait4(pid, 0)
wall = time.monotonic() - started
code = os.waitstatus_to_exitcode(status)
cpu = usage.ru_utime + usage.ru_stime
print(f'\n{{"started": {started}, "wall": {wall}, "cpu": {cpu}, "memory": {usage.ru_maxrss / 1024}}}', end="")
sys.exit(code)
