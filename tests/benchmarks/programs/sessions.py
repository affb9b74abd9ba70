"""Sessions of a size that people reach: written, opened, listed and appended to, each beside the same work on files.

`sessions.py write|open|hold|list|append …` prints seconds as JSON, ours and the floor's.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, Usage, user_message
from agentcli.sessions.codec import encode_line
from agentcli.sessions.entries import MessageEntry, SessionHeader
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage


def best(work: Callable[[], object], floor: Callable[[], object], times: int) -> list[float]:
    """Seconds of processor time of the best of several: the files are in the page cache, so that is what there is."""
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        for action, results in zip((work, floor), took, strict=True):
            gc.collect()
            started = time.process_time()
            action()
            results.append(time.process_time() - started)
    return [min(took[0]), min(took[1])]


def write(path: Path, entries: int, entry_bytes: int, branch_every: int, work: Path = Path("/work")) -> None:
    """A conversation of turns with tools. After every `branch_every` entries it goes back to its beginning."""
    text = "The quick brown fox jumps over the lazy dog.\n" * (entry_bytes // 45)
    with path.open("wb") as file:
        file.write(encode_line(SessionHeader(id=new_id(), timestamp=now_iso(), cwd=str(work))))
        parent: str | None = None
        for number in range(entries):
            if branch_every and number % branch_every == 0:
                parent = None
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
            id = new_id()
            file.write(encode_line(MessageEntry(id=id, parent_id=parent, timestamp=now_iso(), message=message)))
            parent = id


def write_many(folder: Path, work: Path, count: int) -> None:
    place = JsonlSessionRepo(folder).folder_of(work)
    place.mkdir(parents=True)
    for _ in range(count):
        write(place / f"2026-01-01T00-00-00-000Z_{new_id()}.jsonl", 40, 5000, 0, work)


def open_whole(path: Path) -> int:
    session = Session(JsonlSessionStorage.open(path))
    count = len(session.build_context().messages)
    session.close()
    return count


def opening(path: Path, times: int) -> list[float]:
    count = open_whole(path)
    lines = path.read_bytes().splitlines()[-count:]

    def floor() -> None:
        path.read_bytes()
        for line in lines:
            json.loads(line)

    return best(lambda: open_whole(path), floor, times)


def listing(folder: Path, work: Path, times: int) -> list[float]:
    repo = JsonlSessionRepo(folder)
    paths = list(repo.folder_of(work).glob("*.jsonl"))

    def floor() -> None:
        for path in paths:
            path.stat()
            with path.open("rb") as file:
                file.read(4096)

    def ours() -> None:
        assert len(list(repo.list(work))) == len(paths)

    return best(ours, floor, times)


def appending(folder: Path, times: int) -> list[float]:
    """Medians of seconds of a line that is written and on the disk."""
    session = Session(
        JsonlSessionStorage.create(folder / f"{new_id()}.jsonl", SessionHeader(id="x", timestamp=now_iso(), cwd="/"))
    )
    session.append_message(user_message("hello"))
    message = AssistantMessage([TextContent("word " * 400)])
    line = encode_line(MessageEntry(id=new_id(), parent_id=new_id(), timestamp=now_iso(), message=message))
    descriptor = os.open(folder / f"{new_id()}.floor", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(times):
        started = time.perf_counter()
        session.append_message(message)
        session.sync()
        middle = time.perf_counter()
        os.write(descriptor, line)
        os.fsync(descriptor)
        took[0].append(middle - started)
        took[1].append(time.perf_counter() - middle)
    session.close()
    os.close(descriptor)
    return [sorted(values)[times // 2] for values in took]


def main(what: str, *arguments: str) -> object:
    path = Path(arguments[0])
    match what:
        case "write":
            return write(path, *(int(argument) for argument in arguments[1:]))
        case "write-many":
            return write_many(path, Path(arguments[1]), int(arguments[2]))
        case "open":
            return opening(path, int(arguments[1]))
        case "hold":
            return open_whole(path)
        case "list":
            return listing(path, Path(arguments[1]), int(arguments[2]))
        case "append":
            return appending(path, int(arguments[1]))
        case _:
            raise SystemExit(f"there is no {what}")


print(json.dumps(main(*sys.argv[1:])))
