"""What a command does before it begins, where Landlock is the sandbox: it gives up what the policy does not allow.

Standard library only, and little of it: this is imported anew for each command. See landlock(7), seccomp(2).
"""

import ctypes
import json
import os
import stat
import struct
import sys

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ALL_OF_VERSION = {3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_SCOPES = 0b11
"""Abstract Unix sockets and signals."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_GET_VERSION = 1
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm")
"""All of `/dev` that there is: root could read disks."""

MACHINES = {
    # The audit number of the machine, `socket`, `socketpair`, `prlimit64`, and what is refused altogether: ptrace,
    # process_vm_readv, process_vm_writev, kcmp, pidfd_getfd, io_uring_*, keys, bpf, perf_event_open, userfaultfd,
    # namespaces and mounts, open_by_handle_at.
    "x86_64": (
        0xC000003E, 41, 53, 302,
        (101, 310, 311, 312, 438, 425, 426, 427, 248, 249, 250, 321, 298, 323, 272, 308, 165, 166, 155, 161, 428, 429,
         430, 432, 304),
    ),
    "aarch64": (
        0xC00000B7, 198, 199, 261,
        (117, 270, 271, 272, 438, 425, 426, 427, 217, 218, 219, 280, 241, 282, 97, 268, 40, 39, 41, 51, 428, 429,
         430, 432, 265),
    ),
}  # fmt: skip

_EPERM, _EACCES, _ENETUNREACH = 1, 13, 101
_AF_INET, _AF_INET6, _AF_NETLINK, _SOCK_DGRAM = 2, 10, 16, 2


class Fence:
    """Args:
    writable: folders and files, with all below them.
    hidden, shown: what cannot be read, and what of that can.
    network: whether there are sockets of the internet.
    """

    def __init__(self, writable: list[str], hidden: list[str], shown: list[str], network: bool) -> None:
        self.writable = writable
        self.hidden = hidden
        self.shown = shown
        self.network = network


def main(arguments: list[str]) -> None:
    """Enter the fence, go to the folder, become the command. `arguments`: the fence as JSON, folder, command."""
    described, cwd, *argv = arguments
    try:
        enter(Fence(**json.loads(described)))
        os.chdir(cwd)
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{error.filename or 'sandbox'}: {error.strerror}\n")
        sys.exit(126)


def landlock_abi() -> int:
    """The version of Landlock that the kernel has; 0 if it has none."""
    return max(_libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _GET_VERSION), 0)


def enter(fence: Fence) -> None:
    """From here on nothing else can be done by this process and those it starts. Raises OSError."""
    libc, abi = _libc(), landlock_abi()
    handled = _ALL_OF_VERSION[min(abi, 5)]
    attributes = [handled]
    if abi >= 4:
        attributes.append(0)
    if abi >= 6:
        attributes.append(_SCOPES)
    packed = struct.pack(f"={len(attributes)}Q", *attributes)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, packed, ctypes.c_size_t(len(packed)), 0), "landlock")

    def allow(path: str, access: int) -> None:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return  # it is gone, or not ours: then it stays refused
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISLNK(mode):
                access &= handled if stat.S_ISDIR(mode) else handled & _OF_FILES
                rule = struct.pack("=Qi", access, descriptor)
                _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), path)
        finally:
            os.close(descriptor)

    reading = _EXECUTE | _READ_FILE | _READ_DIR
    writing = handled & ~(_MAKE_CHAR | _MAKE_BLOCK)
    allow("/", _READ_DIR)
    for path in (*_readable("/", ["/dev", *fence.hidden]), *fence.shown):
        allow(path, reading)
    for path in (*fence.writable, *_DEVICES):
        allow(path, writing)
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    for capability in range(64):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # root's; others have none to drop
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)
    _filter_calls(libc, fence.network)


def _readable(folder: str, hidden: list[str]) -> list[str]:
    """The widest folders below one, and files, that hold nothing hidden."""
    inner = [path for path in hidden if path == folder or path.startswith(folder.rstrip("/") + "/")]
    if not inner:
        return [folder]
    if folder in inner:
        return []
    found: list[str] = []
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    for name in names:
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            found += _readable(path, inner)
    return found


def _filter_calls(libc: ctypes.CDLL, network: bool) -> None:
    """Refuse system calls that Landlock does not see: sockets of other kinds, other processes, keys, mounts."""
    machine, socket, socketpair, prlimit, refused = MACHINES[os.uname().machine]
    load, equal, above, masked, give = 0x20, 0x15, 0x35, 0x54, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000
    number, arch, first, second = 0, 4, 16, 24
    program: list[tuple[int, int, int, int]] = [
        (load, 0, 0, arch), (equal, 1, 0, machine), (give, 0, 0, refuse | _EPERM),
        (load, 0, 0, number), (above, 0, 1, 0x40000000), (give, 0, 0, refuse | _EPERM),
    ]  # fmt: skip
    for call in refused:
        program += [(equal, 0, 1, call), (give, 0, 0, refuse | _EPERM)]
    program += [(equal, 0, 4, prlimit), (load, 0, 0, first), (equal, 1, 0, 0), (give, 0, 0, refuse | _EPERM),
                (give, 0, 0, allow)]  # fmt: skip
    # A pair for datagrams can send to any socket that has a name.
    program += [(equal, 0, 5, socketpair), (load, 0, 0, second), (masked, 0, 0, 0xF), (equal, 0, 1, _SOCK_DGRAM),
                (give, 0, 0, refuse | _EACCES), (give, 0, 0, allow)]  # fmt: skip
    program += [(equal, 1, 0, socket), (give, 0, 0, allow), (load, 0, 0, first)]
    internet = (_AF_INET, _AF_INET6)
    for family in (*internet, _AF_NETLINK) if network else ():
        program += [(equal, 0, 1, family), (give, 0, 0, allow)]
    for family in internet:
        program += [(equal, 0, 1, family), (give, 0, 0, refuse | _ENETUNREACH)]
    program.append((give, 0, 0, refuse | _EACCES))
    code = b"".join(struct.pack("=HBBI", *line) for line in program)
    buffer = ctypes.create_string_buffer(code)
    header = struct.pack("@HP", len(program), ctypes.addressof(buffer))
    _checked(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0), "seccomp")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result
