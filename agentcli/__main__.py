"""The command `agentcli`. `--version` and the bare command are answered before the command line is imported (50 ms)."""

import gc
import io
import os
import sys


def main() -> None:
    _open_streams()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from agentcli.version import __version__

        try:
            print(f"agentcli {__version__}", flush=True)
        except OSError as error:
            os._exit(141 if isinstance(error, BrokenPipeError) else 1)
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


def _open_streams() -> None:
    """Closed streams lead nowhere; what a stream's encoding does not have becomes `?` and is no failure."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    main()
