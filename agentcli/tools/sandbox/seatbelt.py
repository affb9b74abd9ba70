"""Seatbelt: the sandbox of macOS, through `sandbox-exec` and a profile in its language."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from agentcli.tools.sandbox.backend import Launch, Unavailable
from agentcli.tools.sandbox.policy import SandboxPolicy

_PROGRAM = "/usr/bin/sandbox-exec"
_TRY_AT_MOST_S = 10
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/dtracehelper")


class Seatbelt:
    """Args:
    private: a folder for its temporary files, made by `start` and removed by `close`.
    """

    name = "sandbox-exec"
    keeps_protected = True

    def __init__(self, policy: SandboxPolicy, private: Path) -> None:
        self._policy = policy
        self._private = private
        self.tmp: str = str(private / "tmp")
        self.listener: socket.socket | None = None
        self.limits = (
            "Temporary files, which lie on the disk, have no limit of their own. A process that cuts all ties with its "
            "command may outlive it. Processes outside can be seen."
        )

    def start(self) -> None:
        if sys.platform != "darwin":
            raise Unavailable("it is for macOS")
        Path(self.tmp).mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._policy.hosts is not None:
            self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        try:
            done = subprocess.run(
                self.launch(["/usr/bin/true"], Path("/")).argv, capture_output=True, timeout=_TRY_AT_MOST_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(str(error)) from None
        if done.returncode:
            raise Unavailable(done.stderr.decode("utf-8", "replace").strip() or str(done.returncode))

    def launch(self, argv: list[str], cwd: Path) -> Launch:
        port = self.listener.getsockname()[1] if self.listener is not None else None
        enter = [_PROGRAM, "-p", profile(self._policy, self.tmp, port)]
        return Launch([*enter, "/bin/sh", "-c", 'cd -- "$0" && exec "$@"', str(cwd), *argv])

    def close(self) -> None:
        """What runs is ended by its marks."""
        shutil.rmtree(self._private, ignore_errors=True)
        if self.listener is not None:
            self.listener.close()
            self.listener = None


def profile(policy: SandboxPolicy, tmp: str, port: int | None = None) -> str:
    """The policy in the language of the profiles; of two rules that speak of the same, the later one counts.

    Args:
        port: of the proxy, if the policy names hosts.
    """
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    folders = [*policy.folders(), Path(os.path.realpath(tmp))]
    lines += [f"(allow file-write* {_below(path)})" for path in folders]
    lines += [f"(allow file-write* (literal {_quoted(name)}))" for name in _DEVICES]
    lines.append('(allow file-write* (regex #"^/dev/ttys[0-9]+$"))')
    lines += [f"(deny file-write* {_below(path)})" for path in policy.protected()]
    for folder in policy.folders():
        lines.append(f"(deny file-write* {_below(folder / '.git' / 'commondir')})")
        lines.append(f'(deny file-write* (regex #"^{_pattern(str(folder))}/\\.agentcli[^/]*(/|$)"))')
    # What is protected cannot be moved away with the folder it is in.
    lines += [f"(deny file-write-unlink (literal {_quoted(str(path))}))" for path in policy.anchors()]
    lines += [f"(deny file-read* file-write* {_below(path)})" for path in policy.hidden_paths()]
    lines += [f"(allow file-read* {_below(path)})" for path in policy.shown]
    lines.append("(deny process-info* (target others))")
    lines.append("(deny signal (target others))")
    if not policy.network:
        lines.append("(deny network*)")
        lines.append(
            '(allow network* (local ip "localhost:*") (remote ip "localhost:*"))' if policy.hosts is None else ""
        )
        if port is not None:
            lines.append(f'(allow network-outbound (remote ip "localhost:{port}"))')
    return "\n".join(line for line in lines if line)


def _below(path: Path) -> str:
    return f"(subpath {_quoted(str(path))})"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _pattern(text: str) -> str:
    """A path as a regular expression between `#"` and `"`."""
    return "".join(f"\\{char}" if not (char.isalnum() or char in "/_-") else char for char in text)
