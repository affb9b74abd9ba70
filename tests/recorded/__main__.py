"""`python -m tests.recorded` records anew what a format looks like; look at the difference before you keep it."""

import tempfile
from pathlib import Path

from tests.recorded.recording import INPUTS, SHOWN, Recorder


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (run := Path(folder, "run")).mkdir()
        (rpc := Path(folder, "rpc")).mkdir()
        recorder = Recorder(run)
        _write("events.jsonl", recorder.comparable(recorder.events()))
        _write("session.jsonl", recorder.comparable(recorder.session_lines()))
        recorder = Recorder(rpc)
        _write("rpc.txt", recorder.comparable(recorder.rpc()))
        for name, arguments in SHOWN.items():
            _write(name, recorder.shown(arguments))


def _write(name: str, lines: list[str]) -> None:
    (INPUTS / name).write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
