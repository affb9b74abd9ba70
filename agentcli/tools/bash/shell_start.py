"""ShellStart: what a shell is started with: arguments, directory, environment and, for a long command, a script.

One that forks without end is not to take the machine with it. A user's processes are limited by the system while a
command is started, and so for all that comes of it; root's are not. The count of all that runs, which costs one small
read, tells when a command is worth a closer look.
"""

import contextlib
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agentcli.agent.errors import ToolError
from agentcli.agent.threads import shortage
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.truncate import size

if TYPE_CHECKING:
    from agentcli.tools.sandbox.sandbox import Sandbox

_LONG_COMMAND = 100_000
"""Bytes. Linux takes no single argument over 128 KiB; a longer command goes through a file."""
_TAKES_A_SCRIPT = frozenset(("sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"))
"""Shells that can be told to go on with another file, and to leave it for an empty input."""
_PROOF = 97
_PROOF_AT_MOST_S = 20
MOST_PROCESSES = 4096
"""Of one command. `make -j256` has a quarter of that."""
_starting = threading.Lock()


class ShellStart(Struct, frozen=True):
    shell: str
    arguments: list[str]
    cwd: Path
    env: dict[str, str]
    script: bytes = b""
    """What the shell reads from its standard input before that becomes empty."""
    sandbox: "Sandbox | None" = None
    """What it is started in."""

    @property
    def argv(self) -> list[str]:
        return [os.path.basename(self.shell), *self.arguments]  # noqa: PTH119 (the name alone is in messages)

    def spawn(self, spill: SpillFolder) -> "subprocess.Popen[bytes]":
        """Start it in a session of its own. Raises `OSError`, and `ToolError` if the sandbox is no more."""
        argv, program, folder, inherited = self.argv, self.shell, self.cwd, ()
        if self.sandbox is not None:
            # A shell calls itself by what follows its text.
            name = [self.argv[0]] if self.arguments[0] == "-c" and self.argv[0] in _TAKES_A_SCRIPT else []
            launch = self.sandbox.launch([self.shell, *self.arguments, *name], self.cwd)
            argv, program, folder, inherited = launch.argv, launch.argv[0], Path("/"), launch.descriptors
        descriptor = _file_with(self.script, spill) if self.script else subprocess.DEVNULL
        try:
            with few_processes():
                return subprocess.Popen(
                    argv,
                    executable=program,
                    cwd=folder,
                    env=self.env,
                    pass_fds=inherited,
                    stdin=descriptor,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    bufsize=0,
                    start_new_session=True,
                )
        except OSError:
            if self.sandbox is not None:
                self.sandbox.check(is_over=True)
            raise
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def prove(self) -> None:
        """Find out whether the shell runs what it is given. Raises `OSError`, and `ToolError` if it does not."""
        command = f"exit {_PROOF}"
        null = subprocess.DEVNULL
        told = f"The shell {self.shell} does not run commands, so nothing was run: `{command}` "
        hint = "see the `shell` and `environment` settings, and what the shell reads when it starts"
        try:
            done = subprocess.run(
                [self.argv[0], "-c", command],
                executable=self.shell,
                cwd=self.cwd,
                env=self.env,
                stdin=null,
                stdout=null,
                stderr=null,
                start_new_session=True,
                timeout=_PROOF_AT_MOST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ToolError(f"{told}had not ended after {_PROOF_AT_MOST_S} s", hint=hint) from None
        if done.returncode != _PROOF:
            raise ToolError(f"{told}ended with {done.returncode}", hint=hint)


def arguments_for(shell: str, text: str, spill: SpillFolder) -> tuple[list[str], bytes]:
    """The arguments that make a shell run a text, and the script that it then reads. Raises `OSError`."""
    script = text.encode("utf-8")
    if len(script) <= _LONG_COMMAND:
        # A first word like -x would be taken for an option of the shell.
        return ["-c", f" {text}" if text.startswith(("-", "+")) else text], b""
    if os.path.basename(shell) in _TAKES_A_SCRIPT:  # noqa: PTH119
        return ["-c", ". /dev/stdin"], b"exec </dev/null; " + script
    descriptor, path = spill.create_file("command")
    with os.fdopen(descriptor, "wb") as file:
        file.write(script)
    return [str(path)], b""


def _file_with(script: bytes, spill: SpillFolder) -> int:
    """A descriptor to read the script from, of a file without a name."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("command")
    else:
        writing, path = spill.create_file("command")
        os.close(writing)
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        path.unlink()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(script)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def start_failure(error: BaseException, env: Mapping[str, str]) -> ToolError:
    """What to say of a command that could not be started."""
    if isinstance(error, ToolError):
        return error
    if found := shortage(error):
        return ToolError(f"The command could not be run: {found.message}: {error}", hint=found.hint)
    if not isinstance(error, OSError):
        return ToolError(f"The command could not be run: {error}")
    if error.errno == errno.E2BIG:
        total = sum(len(os.fsencode(name)) + len(os.fsencode(value)) + 2 for name, value in env.items())
        longest = max(env, key=lambda name: len(env[name]))
        told = (
            f"its environment is too large for the system ({size(total)}, of which {longest} {size(len(env[longest]))})"
        )
        return ToolError(f"The command could not be started: {told}", hint="unset what is not needed")
    reason = error.strerror or str(error)
    return ToolError(
        f"The command could not be started: {error.filename or 'the shell'}: {reason}", hint="see the `shell` setting"
    )


def count_tasks() -> int:
    """Processes and threads of the whole system; 0 where that is not told."""
    try:
        return int(Path("/proc/loadavg").read_bytes().split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 0


@contextlib.contextmanager
def few_processes() -> Iterator[None]:
    """What is started inside can have so many processes more than there are now. Its own user may raise that limit."""
    tasks = count_tasks()
    if sys.platform != "linux" or not tasks or os.geteuid() == 0:
        yield
        return
    import resource

    with _starting:
        soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        limit = tasks + MOST_PROCESSES
        is_lower = soft == resource.RLIM_INFINITY or limit < soft
        if is_lower:
            resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
        try:
            yield
        finally:
            if is_lower:
                resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
