"""Run agentcli against real language models on this machine: `python -m tests.realmodel [--short] [pytest arguments]`.

`--short` leaves out the model that calls tools. What is needed is installed into a folder outside of the project first
(`install` says where), a minute the first time, and kept.
"""

import os
import sys
from pathlib import Path

import pytest


def main() -> int:
    arguments = sys.argv[1:]
    short = "--short" in arguments
    rest = [argument for argument in arguments if argument != "--short"]
    os.environ["AGENTCLI_REALMODEL"] = "1"
    selected = ["-m", "not large"] if short else []
    # One server for all of them, which wants every core: whatever the plain run is told, this one has no workers.
    plain = ["-o", "addopts=--strict-markers --strict-config -ra", "-p", "no:xdist"]
    return pytest.main([str(Path(__file__).parent), *plain, "--durations=5", *selected, *rest])


if __name__ == "__main__":
    sys.exit(main())
