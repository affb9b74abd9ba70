"""The command `agentcli`. `--version` and the bare command are answered before the command line is imported (50 ms)."""

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
    from agentcli.cli.main import run_command_line

    sys.exit(run_command_line(arguments))


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
