"""Walks through the app in a real terminal, as a person would: `python -m tests.walk [--short] [FOLDER]`.

tmux types, and what the terminal shows is looked at and kept as text in FOLDER (default: not at all). Ends with 1 where
something is not as it should be, and with a line where there is no tmux.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.walk.legs import LEGS, SHORT
from tests.walk.tmux import Tmux, is_there


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.walk", description=__doc__)
    parser.add_argument("--short", action="store_true", help=f"only {', '.join(SHORT)}")
    parser.add_argument("folder", nargs="?", type=Path, help="where the screens are kept")
    arguments = parser.parse_args()
    if not is_there():
        print("skipped: tmux is not installed")
        return 0
    failed = False
    for name, leg in LEGS.items():
        if arguments.short and name not in SHORT:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="agentcli-walk-", ignore_cleanup_errors=True) as place:
            terminal = Tmux(Path(place) / "work", (arguments.folder or Path(place) / "screens") / name)
            try:
                leg(terminal)
            except AssertionError as error:
                failed = True
                print(f"FAILED {name}: {error}")
            else:
                print(f"ok {name} ({time.monotonic() - began:.1f} s)")
            finally:
                terminal.end()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
