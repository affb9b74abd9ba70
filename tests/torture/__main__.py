"""Sessions, conversations and answers under torture.

    python -m tests.torture [--short]

300 rounds of `kill -9` at random moments while a session is written: after each it opens, every entry that was
acknowledged is there, the context can be built, and the next append is sound. The same on a disk that is full (a limit on
the file's size, and a file system of 1 MiB where one can be mounted). Two writers: one is refused. 300 random
conversations in small windows: every compaction ends, and nothing is summarised away that the model has not seen. 200
rounds of answers of each wire API with random finish reasons and cuts: none is done unless its server said so. 100,000
commands that are judged, and run by a real bash if they are understood: nothing runs that was not judged.
`--short`: 15 rounds, 40 conversations, 20 rounds of answers, 5,000 commands.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import user_message
from agentcli.sessions.doctor import examine
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.storage.line_scan import scan_lines
from agentcli.sessions.tree import tree_lines
from tests.torture.commands import commands
from tests.torture.compaction import conversations
from tests.torture.endings import endings
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]


def start(path: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.torture.writer", str(path), *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


def acknowledged(output: bytes) -> list[str]:
    """The ids that the writer said were kept; a last line without its end was not said whole."""
    lines = output.split(b"\n")[:-1]
    return [line.decode() for line in lines if line and line != b"ready" and not line.startswith(b"full ")]


def check(path: Path, ids: list[str]) -> int:
    """Open the session as the next process would, and go on with it. Returns how many entries it has."""
    session = Session(JsonlSessionStorage.open(path))
    there = {head.id for head in session.storage.heads()}
    missing = [id for id in ids if id not in there]
    assert not missing, f"{len(missing)} of {len(ids)} acknowledged entries are gone: {missing[:3]}"
    assert sum(1 for _ in tree_lines(session.storage, everything=True)) == len(there)
    session.build_context()
    appended = session.append_message(user_message("going on"))
    session.close()
    again = Session(JsonlSessionStorage.open(path))
    assert again.storage.notices == [], again.storage.notices
    assert again.leaf_id == appended and again.get_entry(appended) is not None
    again.close()
    assert not [finding for finding in examine(path) if finding.is_wrong], examine(path)
    return len(there)


def kill_rounds(folder: Path, rounds: int) -> None:
    entries = torn = 0
    for number in range(rounds):
        path = folder / f"kill{number}" / "session.jsonl"
        output = b""
        # Sometimes a session that was killed before is gone on with, and killed again.
        for _ in range(random.choice((1, 1, 3))):
            writer = start(path)
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            time.sleep(random.random() * 0.15)
            writer.send_signal(signal.SIGKILL)
            output += writer.stdout.read().rpartition(b"\n")[0] + b"\n"
            writer.wait()
            writer.stdout.close()
        if path.exists():
            torn += path.read_bytes()[-1:] != b"\n"
            entries += check(path, acknowledged(output))
    print(
        f"kill -9: {rounds} rounds, {entries} entries, {torn} torn lines; none of the acknowledged was lost", flush=True
    )


def full_by_limit(folder: Path, rounds: int) -> None:
    failures = 0
    for number in range(rounds):
        path = folder / f"limit{number}" / "session.jsonl"
        writer = start(path, "25", str(random.randrange(300, 2_000_000)))
        output, _ = writer.communicate()
        assert writer.returncode == 0, "a full disk ends no process"
        failures += output.count(b"full ")
        if path.exists() and path.stat().st_size:
            assert path.read_bytes()[-1:] == b"\n", "what could not be written was taken back"
            check_or_refused(path, acknowledged(output))
    assert failures, "the limit was never reached"
    print(f"file size limit: {rounds} rounds, {failures} failed appends; files and acknowledgements agree", flush=True)


def check_or_refused(path: Path, ids: list[str]) -> None:
    with path.open("rb") as file:
        if next(iter(scan_lines(file.raw)), None) is None:  # pyright: ignore[reportAttributeAccessIssue]
            assert not ids
            return
    check(path, ids)


def full_file_system(folder: Path) -> None:
    mount = folder / "tiny"
    mount.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mount)], capture_output=True, check=False
    )
    if made.returncode:
        print("full file system: none can be mounted here; the file size limit above is the same error", flush=True)
        return
    try:
        path = mount / "session.jsonl"
        ballast = mount / "ballast"
        ballast.write_bytes(b"x" * 600_000)
        writer = start(path, "40")
        output, _ = writer.communicate()
        assert writer.returncode == 0 and b"full " in output
        ballast.unlink()
        check(path, acknowledged(output))
        print(f"full file system: {output.count(b'full ')} failed appends; goes on when there is space", flush=True)
    finally:
        subprocess.run(["umount", str(mount)], check=True)


def two_writers(folder: Path) -> None:
    path = folder / "two" / "session.jsonl"
    first = start(path)
    assert first.stdout is not None
    wait_until(lambda: path.exists() and path.stat().st_size)
    for _ in range(20):
        try:
            JsonlSessionStorage.open(path)
        except SessionError as error:
            assert error.code == "locked" and str(first.pid) in error.message, error
        else:
            raise AssertionError("two processes write one session")
        JsonlSessionStorage.read(path).close()
    first.send_signal(signal.SIGKILL)
    ids = acknowledged(first.stdout.read())
    first.wait()
    first.stdout.close()
    check(path, ids)
    print("two writers: the second is refused, may read, and goes on when the first is gone", flush=True)


@contextlib.contextmanager
def private_home(path: Path) -> Iterator[None]:
    before = os.environ.get("AGENTCLI_HOME")
    os.environ["AGENTCLI_HOME"] = str(path)
    try:
        yield
    finally:
        os.environ.pop("AGENTCLI_HOME")
        if before is not None:
            os.environ["AGENTCLI_HOME"] = before


def main(arguments: list[str]) -> int:
    short = "--short" in arguments
    seed = int.from_bytes(os.urandom(4))
    random.seed(seed)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        kill_rounds(folder, 15 if short else 300)
        full_by_limit(folder, 5 if short else 60)
        full_file_system(folder)
        two_writers(folder)
        commands(folder / "commands", 5_000 if short else 100_000, seed)
        with private_home(folder / "home"):
            first = seed % 1_000_000
            conversations(folder, range(first, first + (40 if short else 300)))
    endings(20 if short else 200)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
