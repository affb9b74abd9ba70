"""Cover: mounts again what a sandbox has to cover, in its namespace: a replaced file has lost what was mounted on it.

Runs inside by its text (`python -I -S -c`), with the capabilities of the sandbox's owner. Standard library only. The
arguments: pairs of what to do (`bind`, `read-only`, `hide`) and a path, outer ones first. See mount_setattr(2).
"""

import ctypes
import os
import sys

_MOUNT_SETATTR, _AT_FDCWD = 442, -100
_BIND = 4096
_NO_SUID, _NO_DEV, _READ_ONLY = 2, 4, 1


def main(arguments: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    for what, path in zip(arguments[::2], arguments[1::2], strict=True):
        name = os.fsencode(path)
        if what == "hide" and os.path.isdir(name):  # noqa: PTH112
            flags = _READ_ONLY | _NO_SUID | _NO_DEV
            failed = libc.mount(b"tmpfs", name, b"tmpfs", flags, b"size=65536,mode=0755")
        else:
            failed = libc.mount(b"/dev/null" if what == "hide" else name, name, None, _BIND, None)
            if not failed and what == "read-only":
                attributes = (ctypes.c_uint64 * 4)(_READ_ONLY, 0, 0, 0)
                failed = libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, name, 0, attributes, ctypes.sizeof(attributes))
        if failed:
            sys.exit(f"{path}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(sys.argv[1:])
