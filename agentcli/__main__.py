"""The command `agentcli`. `--version` and the bare command are answered before the command line is imported (50 ms)."""

import sys


def main() -> None:
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from agentcli.version import __version__

        print(f"agentcli {__version__}")
        return
    from agentcli.cli.main import run_command_line

    sys.exit(run_command_line(arguments))


if __name__ == "__main__":
    main()
