"""The command `agentcli`. `--version` and the bare command are answered before the command line is imported (50 ms)."""

import gc
import io
import os
import sys


def main() -> None:
    _open_descriptors()
    _open_streams()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from agentcli.version import __version__

        try:
            print(f"agentcli {__version__}", flush=True)
        except BrokenPipeError:
            os._exit(141)
        except OSError as error:
            print(f"agentcli: the output could not be written: {error.strerror}", file=sys.stderr, flush=True)
            os._exit(1)
        return
    _collect_late()
    from agentcli.cli.main import run_command_line

    code = run_command_line(arguments)
    # All of it ends with the process: to look through it for garbage twice more takes 35 ms.
    gc.freeze()
    sys.exit(code)


def _collect_late() -> None:
    """Look for no garbage during the start: what it makes stays, and to look through it again and again takes 35 ms.

    The first collection ends that. What there is by then is never looked through again, and what follows is as usual.
    """
    usual = gc.get_threshold()

    def collected(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            gc.callbacks.remove(collected)
            gc.freeze()
            gc.set_threshold(*usual)

    gc.callbacks.append(collected)
    gc.set_threshold(100_000, *usual[1:])


def _open_descriptors() -> None:
    """Put /dev/null where 0, 1 or 2 is closed: whatever is opened next would take its place, a session file too.

    On 1 it is open for reading only: what is written there fails, as it does on a closed descriptor.
    """
    for descriptor, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is taken, which is this one.
            os.set_inheritable(os.open(os.devnull, flags), True)


def _open_streams() -> None:
    """A stream that was closed at the start is the descriptor; what an encoding does not have becomes `?`."""
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(descriptor, mode, errors="replace", closefd=False))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
