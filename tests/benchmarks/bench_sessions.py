"""Sessions of a size that people reach: opening, listing and appending, each against the floor of the same file work.

    python -m tests.benchmarks.bench_sessions [--short]

`--short` takes a fifth of the sizes. Exit code 1 when a bound is missed.
"""

import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, Usage, user_message
from agentcli.sessions.entries import MessageEntry, SessionHeader, encode_line
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session


def compare(work: Callable[[], object], floor: Callable[[], object], times: int) -> tuple[float, float]:
    """Seconds of processor time of the best run of each; they take turns, so that the machine's moods hit both.

    The files are in the page cache, so that processor time is what there is; other processes do not count.
    """
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for action, results in zip((work, floor), took, strict=True):
            gc.collect()
            started = time.process_time()
            action()
            results.append(time.process_time() - started)
    return min(took[0]), min(took[1])


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def write_session(path: Path, entries: int, entry_bytes: int, branch_every: int = 0) -> list[tuple[int, int]]:
    """A conversation of turns with tools. Returns the places of the active path's lines.

    Args:
        branch_every: after so many entries the conversation goes back to its beginning, and the old branch stays.
    """
    text = "The quick brown fox jumps over the lazy dog.\n" * (entry_bytes // 45)
    places: list[tuple[int, int]] = []
    with path.open("wb") as file:
        file.write(encode_line(SessionHeader(id=new_id(), timestamp=now_iso(), cwd="/work")))
        parent: str | None = None
        for number in range(entries):
            if branch_every and number % branch_every == 0:
                parent, places = None, []
            kind = number % 4
            if kind == 0:
                message = user_message(text)
            elif kind == 2:
                message = ToolResultMessage(f"call_{number - 1}", "bash", [TextContent(text)])
            else:
                call = [ToolCall(f"call_{number}", "bash", {"command": "make"})] if kind == 1 else []
                message = AssistantMessage(
                    [TextContent(text), *call], provider="p", model="m", usage=Usage(10, 20, 0, 0, 30)
                )
            line = encode_line(MessageEntry(id=new_id(), parent_id=parent, timestamp=now_iso(), message=message))
            parent = json.loads(line)["id"] if number < 3 else line[24:60].decode()
            places.append((file.tell(), len(line)))
            file.write(line)
    return places


def check(name: str, took: float, bound: float, floor: str) -> bool:
    verdict = "ok" if took <= bound else "MISSED"
    print(f"{name:<44} {took * 1000:9.2f} ms   bound {bound * 1000:9.2f} ms ({floor})   {verdict}", flush=True)
    return took <= bound


def opening(folder: Path, scale: float, branch_every: int, name: str) -> bool:
    entries = int(100_000 * scale)
    path = folder / f"big{branch_every}.jsonl"
    places = write_session(path, entries, 1400, branch_every)
    lines = []
    with path.open("rb") as file:
        for offset, length in places:
            file.seek(offset)
            lines.append(file.read(length))

    def floor() -> None:
        path.read_bytes()
        for line in lines:
            json.loads(line)

    def work() -> None:
        session = Session(JsonlSessionStorage.open(path))
        assert len(session.build_context().messages) == len(places)
        session.close()

    size = path.stat().st_size >> 20
    title = f"open + context, {size} MiB, {entries} entries, {name}"
    took, bound = compare(work, floor, 3)
    good = check(title, took, 2 * bound, "2 x json.loads of the path + read")
    path.unlink()
    return good


def listing(folder: Path, scale: float) -> bool:
    repo = JsonlSessionRepo(folder / "sessions")
    place = repo.folder_of(folder)
    place.mkdir(parents=True)
    for _ in range(int(1000 * scale)):
        write_session(place / f"2026-01-01T00-00-00-000Z_{new_id()}.jsonl", 40, 10_000 if scale < 1 else 5000)
    paths = list(place.glob("*.jsonl"))

    def floor() -> None:
        for path in paths:
            path.stat()
            with path.open("rb") as file:
                file.read(4096)

    def work() -> None:
        assert len(repo.list(folder)) == len(paths)

    took, bound = compare(work, floor, 5)
    title = f"list {len(paths)} sessions"
    return check(title, took, max(0.3 * scale, 3 * bound), "0.3 s per 1,000, or 3 x stat + 4 KiB")


def appending(folder: Path) -> bool:
    session = Session(
        JsonlSessionStorage.create(folder / "append.jsonl", SessionHeader(id="x", timestamp=now_iso(), cwd="/"))
    )
    session.append_message(user_message("hello"))
    message = AssistantMessage([TextContent("word " * 400)])
    line = encode_line(MessageEntry(id=new_id(), parent_id=new_id(), timestamp=now_iso(), message=message))
    descriptor = os.open(folder / "floor.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)

    def floor() -> None:
        os.write(descriptor, line)
        os.fsync(descriptor)

    def work() -> None:
        session.append_message(message)
        session.sync()

    pairs = [(seconds(floor), seconds(work)) for _ in range(400)]
    bound = 1.5 * statistics.median(pair[0] for pair in pairs)
    good = check("append + sync", statistics.median(pair[1] for pair in pairs), bound, "1.5 x write + fsync")
    session.close()
    os.close(descriptor)
    return good


def main(arguments: list[str]) -> int:
    scale = 0.2 if "--short" in arguments else 1.0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        good = [
            opening(folder, scale, 0, "one branch"),
            opening(folder, scale, int(10_000 * scale), "ten branches"),
            listing(folder, scale),
            appending(folder),
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
