"""A process that writes a session as fast as it can, and says of each entry when it is kept.

    python -m tests.torture.writer PATH [COUNT [LIMIT]]

It writes COUNT turns, and no file may grow beyond LIMIT bytes.
Each line on stdout is `ID`, printed after the append of that entry has returned; `full MESSAGE` when it failed.
"""

import random
import resource
import signal
import sys
from pathlib import Path

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, user_message
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage


def main(path: Path, count: int, limit: int | None) -> None:
    if limit is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if path.exists():
        session = Session(JsonlSessionStorage.open(path))
    else:
        session = Session(JsonlSessionStorage.create(path, SessionHeader(id=new_id(), timestamp=now_iso(), cwd="/")))
    print("ready", flush=True)
    for number in range(count):
        try:
            turn(session, number)
        except SessionError as error:
            print(f"full {error}", flush=True)


def turn(session: Session, number: int) -> None:
    """One turn with a tool, now and then a branch, a label or a compaction; sizes from a few bytes to a megabyte."""
    size = random.choice((1, 10, 1000, 50_000, 1_000_000))
    kept(session.append_message(user_message(f"question {number}")))
    call = f"call {number} {new_id()}"
    kept(session.append_message(AssistantMessage([TextContent("I look"), ToolCall(call, "bash", {"command": "x"})])))
    last = kept(session.append_message(ToolResultMessage(call, "bash", [TextContent("é" * size)])))
    match random.randrange(6):
        case 0:
            session.move_to(session.get_branch()[0].id)
        case 1:
            kept(session.append_label(last, f"label {number}"))
        case 2:
            kept(session.append_compaction("what was said", last, 100))
        case 3:
            session.sync()


def kept(id: str) -> str:
    print(id, flush=True)
    return id


if __name__ == "__main__":
    _, place, *numbers = sys.argv
    main(Path(place), int(numbers[0]) if numbers else 1_000_000, int(numbers[1]) if len(numbers) > 1 else None)
