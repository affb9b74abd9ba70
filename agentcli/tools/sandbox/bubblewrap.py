"""Bubblewrap: namespaces of Linux, set up once by `bwrap`; each command enters them by `nsenter`, in 2 ms.

One file system, one `/tmp`, one network and one set of processes for all commands of a session: a server that one has
started is reached by the next. The file system is read-only but for what the policy says; what is hidden is covered.
"""

import contextlib
import fcntl
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentcli.files.repository import repository_root
from agentcli.tools.sandbox.backend import Launch, Unavailable, trusted_program
from agentcli.tools.sandbox.cgroup import Cgroup
from agentcli.tools.sandbox.policy import SandboxPolicy

_NS_GET_USERNS = 0xB701
"""See ioctl_ns(2)."""
_START_AT_MOST_S = 10.0
_END_AT_MOST_S = 0.5
_TRIES = 3
_KEPT_OF_RUN = (
    "/run/systemd/resolve", "/run/NetworkManager/resolv.conf", "/run/resolvconf", "/run/current-system",
    "/run/opengl-driver",
)  # fmt: skip
_PRIVATE = ("/tmp", "/var/tmp", "/dev/shm")
_ENTER = 'cd -- "$0" && exec "$@"'
_DROP = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
_MOST_TMP_BYTES = 2 << 30


class Bubblewrap:
    name = "bubblewrap"
    tmp = "/tmp"
    limits = ""
    keeps_protected = True

    def __init__(self, policy: SandboxPolicy) -> None:
        self._policy = policy
        self._programs: dict[str, str] = {}
        self._holder: _Holder | None = None
        self._earlier: list[_Holder] = []
        """Of a working folder that was replaced by another; what runs in them goes on."""
        self._cgroup = Cgroup()
        self.listener: socket.socket | None = None
        """It belongs to the sandbox's own loopback."""

    @property
    def groups(self) -> list[Path]:
        """The cgroups that limit what runs inside."""
        return self._cgroup.folders

    def start(self) -> None:
        if not sys.platform.startswith("linux"):
            raise Unavailable("it is for Linux")
        for name in ("bwrap", "nsenter", *(["setpriv"] if os.geteuid() == 0 else [])):
            self._programs[name] = _program(name, self._policy.cwd)
        self._cgroup.make()
        try:
            self._holder = self._hold()
        except OSError as error:
            raise Unavailable(str(error)) from None
        try:
            launch = self.launch(["/bin/sh", "-c", "exit 7"], Path("/"))
            done = subprocess.run(
                launch.argv, pass_fds=launch.descriptors, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_START_AT_MOST_S, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            self.close()
            raise Unavailable(str(error)) from None
        if done.returncode != 7:
            self.close()
            raise Unavailable(f"nsenter: {_last_line(done.stderr) or done.returncode}")

    def launch(self, argv: list[str], cwd: Path) -> Launch:
        holder = self._holder
        if holder is None or not holder.is_of(self._policy.cwd) or not self._covered(holder):
            if holder is not None:
                self._earlier.append(holder)
            holder = self._holder = self._hold()
        enter = [self._programs["nsenter"], "-t", str(holder.pid), "-m", "-i", "-u", "-p", "--preserve-credentials"]
        if not self._policy.network:
            enter.append("-n")
        descriptors: tuple[int, ...] = ()
        if holder.outer < 0:
            enter.append("-U")
        else:
            # The one that owns the file system, then the one of the person's own user in it.
            enter.append(f"--user=/proc/self/fd/{holder.outer}")
            enter += [self._programs["nsenter"], "-t", "1", "-U", "--preserve-credentials"]
            descriptors = (holder.outer,)
        if "setpriv" in self._programs:
            enter += [self._programs["setpriv"], *_DROP]
        # By its real path: a link that leads to it may lie in a folder that is private.
        enter += ["/bin/sh", "-c", _ENTER, os.path.realpath(cwd)]
        return Launch([*self._cgroup.prefix(), *enter, *argv], descriptors)

    def _covered(self, holder: "_Holder") -> bool:
        """Whether all that is protected and hidden is covered, after that has been seen to."""
        missing = holder.uncovered(self._policy)
        if not missing:
            return True
        user = "-U" if holder.outer < 0 else f"--user=/proc/self/fd/{holder.outer}"
        enter = [self._programs["nsenter"], "-t", str(holder.pid), "-m", user, "--preserve-credentials"]
        script = Path(__file__).with_name("cover.py").read_text("utf-8")
        python = os.path.realpath(sys.executable)
        try:
            done = subprocess.run(
                [*enter, python, "-I", "-S", "-c", script, *(word for pair in missing for word in pair)],
                pass_fds=() if holder.outer < 0 else (holder.outer,), stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_START_AT_MOST_S, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0 and not holder.uncovered(self._policy, note=missing)

    def _hold(self) -> "_Holder":
        """What was looked at may be gone when it is mounted: then it is looked at anew."""
        for _ in range(_TRIES - 1):
            with contextlib.suppress(Unavailable):
                return self._new_holder()
        return self._new_holder()

    def _new_holder(self) -> "_Holder":
        holder = _Holder(self._programs["bwrap"], self._policy)
        self.listener = holder.listener
        return holder

    def close(self) -> None:
        for holder in (*self._earlier, self._holder):
            if holder is not None:
                holder.close()
        self._earlier, self._holder = [], None
        self._cgroup.remove()


class _Holder:
    """The sandbox itself: the process that keeps it, and how to get in. Raises Unavailable."""

    def __init__(self, bwrap: str, policy: SandboxPolicy) -> None:
        self.listener: socket.socket | None = None
        self.outer = -1
        """The user namespace that owns the file system, if it is not the one of the processes."""
        self._covers = {path: (what, _identity(path)) for path, what in covers(policy)}
        """What is mounted over, and what lay there then: a file that takes its place is not."""
        self._folder = _opened(policy.cwd)
        """Open, so that no other one gets its number."""
        told, telling = os.pipe()
        ours, theirs = _channel(policy.hosts is not None)
        script = Path(__file__).with_name("holder.py").read_text("utf-8")
        python = os.path.realpath(sys.executable)
        argv = [bwrap, *arguments(policy), "--info-fd", str(telling), "--", python, "-I", "-S", "-c", script]
        inherited = [telling]
        if theirs is not None:
            argv.append(str(theirs.fileno()))
            inherited.append(theirs.fileno())
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": "/usr/bin:/bin"},
                pass_fds=inherited,
                start_new_session=True,
            )
        except OSError as error:
            for descriptor in (told, self._folder):
                if descriptor >= 0:
                    os.close(descriptor)
            raise Unavailable(str(error)) from None
        finally:
            os.close(telling)
            if theirs is not None:
                theirs.close()
        try:
            with os.fdopen(told, "rb") as file:
                info = file.read()
            assert self._process.stdout is not None
            if not info or not self._process.stdout.read(1):
                raise Unavailable(self._complaint())
            self.pid = int(json.loads(info)["child-pid"])
            if ours is not None:
                self.listener = _received(ours)
            self.outer = _owner(self.pid)
        except BaseException:
            self.close()
            raise
        finally:
            if ours is not None:
                ours.close()

    def is_of(self, cwd: Path) -> bool:
        """Whether it lives, and the working folder is still the one that it shows."""
        return self._process.poll() is None and _is_open(self._folder, cwd)

    def uncovered(self, policy: SandboxPolicy, note: Sequence[tuple[str, str]] = ()) -> list[tuple[str, str]]:
        """What has taken the place of something that was covered, or is hidden and was not there, outer ones first.

        Args:
            note: what has been covered since.
        """
        for what, name in note:
            self._covers[Path(name)] = (what, _identity(Path(name)))
        for path in policy.hidden_paths():
            self._covers.setdefault(path, ("hide", None))
        found = []
        for path, (what, identity) in sorted(self._covers.items()):
            now = _identity(path)
            if now is not None and now != identity:
                found.append((what, str(path)))
        return found

    def close(self) -> None:
        for descriptor in (self.outer, self._folder):
            if descriptor >= 0:
                os.close(descriptor)
        self.outer = self._folder = -1
        if self.listener is not None:
            self.listener.close()
        for file in (self._process.stdin, self._process.stdout, self._process.stderr):
            if file is not None:
                file.close()
        try:
            self._process.wait(_END_AT_MOST_S)
        except subprocess.TimeoutExpired:
            # The system is still at it; nobody need wait for that.
            self._process.kill()
            self._process.wait()

    def _complaint(self) -> str:
        assert self._process.stderr is not None
        return _last_line(self._process.stderr.read()) or "it ended at once"


def arguments(policy: SandboxPolicy) -> list[str]:
    """What tells `bwrap` the policy. Later mounts cover earlier ones."""
    found = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--as-pid-1"]
    if not policy.network:
        found.append("--unshare-net")
    # Without the last, root could set what the whole machine runs at a crash.
    found += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    size = str(min(_MOST_TMP_BYTES, _memory() // 4))
    for name in _PRIVATE:
        if Path(name).is_dir() and not Path(name).is_symlink():
            found += ["--size", size, "--perms", "1777", "--tmpfs", name]
    covered = [Path(name) for name in _PRIVATE]
    for name in ("/run", "/var/run"):
        if Path(name).is_dir() and not Path(name).is_symlink():
            found += ["--tmpfs", name]
            covered.append(Path(name))
    for name in _KEPT_OF_RUN:
        found += ["--ro-bind-try", name, name]
    folders, hidden = policy.folders(), policy.hidden_paths()
    inside = [path for path in hidden if any(folder in path.parents for folder in folders)]
    emptied: list[str] = []
    for path in hidden:
        if path not in inside and not _is_below(path, covered):
            found += _covering(path, emptied)
    for path in _programs():
        if _is_below(path, covered):
            found += ["--ro-bind", str(path), str(path)]
    covered += hidden
    # The project, and agentcli's own Python, may lie in a folder that is private.
    for path in (Path(sys.base_prefix), repository_root(policy.cwd) or policy.cwd):
        if _is_below(path, covered) and path.exists():
            found += ["--ro-bind", str(path), str(path)]
    for path in folders:
        found += ["--bind", str(path), str(path)]
    for path in inside:
        found += _covering(path, emptied)
    for path, what in covers(policy):
        if what != "hide":
            found += ["--ro-bind" if what == "read-only" else "--bind", str(path), str(path)]
    for path in policy.shown:
        if _is_below(path, covered) and path.exists():
            found += ["--ro-bind", str(path), str(path)]
    for path in _sockets():
        if not _is_below(path, [*covered, *folders]):
            found += ["--ro-bind", "/dev/null", str(path)]
    for name in emptied:
        found += ["--remount-ro", name]
    return [*found, "--chdir", "/"]


def covers(policy: SandboxPolicy) -> list[tuple[Path, str]]:
    """What is mounted over something: `bind` (it cannot be moved away), `read-only`, `hide`. Outer ones first."""
    hidden = policy.hidden_paths()
    kept = [path for path in policy.protected() if not path.is_symlink() and not _is_below(path, hidden)]
    anchors = [path for path in policy.anchors() if path not in kept and not _is_below(path, kept)]
    return [
        *((path, "bind") for path in anchors),
        *((path, "read-only") for path in kept),
        *((path, "hide") for path in hidden),
    ]


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _programs() -> Iterator[Path]:
    """The folders of PATH, and what belongs to the programs of those that are Python environments."""
    for name in os.get_exec_path():
        path = Path(os.path.realpath(name))
        # `Path.is_dir` raises where a parent may not be looked into.
        if os.path.isdir(path) and os.path.isabs(name):  # noqa: PTH112, PTH117
            yield path.parent if os.path.isfile(path.parent / "pyvenv.cfg") else path  # noqa: PTH113


def _covering(path: Path, emptied: list[str]) -> list[str]:
    if path.is_dir():
        emptied.append(str(path))
        return ["--size", "65536", "--perms", "0755", "--tmpfs", str(path)]
    return ["--ro-bind", "/dev/null", str(path)]


def _sockets() -> Iterator[Path]:
    """Sockets with a name in the file system that somebody listens on: behind one may be anything (Docker)."""
    with contextlib.suppress(OSError), open("/proc/net/unix", "rb") as file:  # noqa: PTH123
        names = {line.rstrip(b"\n").split(b" ", 7)[-1] for line in file}
        for name in sorted(name for name in names if name.startswith(b"/")):
            path = Path(os.path.realpath(os.fsdecode(name)))
            with contextlib.suppress(OSError, ValueError):
                if stat.S_ISSOCK(path.stat().st_mode):
                    yield path


def _owner(pid: int) -> int:
    """The user namespace that owns the file system of a process, open; -1 if the process is in that one."""
    descriptor = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    try:
        owner = fcntl.ioctl(descriptor, _NS_GET_USERNS)
    finally:
        os.close(descriptor)
    if os.fstat(owner).st_ino != os.stat(f"/proc/{pid}/ns/user").st_ino:  # noqa: PTH116
        return owner
    os.close(owner)
    return -1


def _channel(wanted: bool) -> tuple[socket.socket | None, socket.socket | None]:
    return socket.socketpair() if wanted else (None, None)


def _received(channel: socket.socket) -> socket.socket:
    channel.settimeout(_START_AT_MOST_S)
    _, descriptors, _, _ = socket.recv_fds(channel, 16, 1)
    if not descriptors:
        raise Unavailable("it made no listener")
    return socket.socket(fileno=descriptors[0])


def _program(name: str, cwd: Path) -> str:
    found = trusted_program(name, cwd)
    if found is None:
        raise Unavailable(f"{name} is not installed")
    return found


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    return any(path == folder or folder in path.parents for folder in folders)


def _opened(folder: Path) -> int:
    try:
        return os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return -1


def _is_open(descriptor: int, folder: Path) -> bool:
    """Whether it is this folder that is open; true too if there is neither."""
    try:
        status = folder.stat()
    except OSError:
        return descriptor < 0
    return descriptor >= 0 and os.path.samestat(os.fstat(descriptor), status)


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _last_line(data: bytes) -> str:
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
