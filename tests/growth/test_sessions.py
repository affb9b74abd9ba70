"""A session that is twice as long costs twice as much to open, and the same to append to."""

from pathlib import Path

from agentcli.agent.messages import AssistantMessage, TextContent, ToolCall, ToolResultMessage, user_message
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.tree import tree_lines
from tests.growth.cost import Work, assert_doubles, assert_same, instructions


def written(path: Path, messages: int, branch_every: int = 0, cwd: str = "/work") -> Path:
    """A session file with a conversation, closed. After every `branch_every` messages it goes back to its beginning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    session = Session(JsonlSessionStorage.create(path, SessionHeader(id=new_id(), timestamp=now_iso(), cwd=cwd)))
    first = session.append_message(user_message("go"))
    for number in range(messages):
        if branch_every and number % branch_every == 0:
            session.storage.set_leaf_id(first)
        call = ToolCall(f"c{number}", "bash", {"command": "make"})
        session.append_message(AssistantMessage([TextContent("some words " * 20), call], provider="p", model="m"))
        session.append_message(ToolResultMessage(f"c{number}", "bash", [TextContent("a line\n" * 20)]))
    session.close()
    return path


async def test_opening(tmp_path: Path):
    def prepare(messages: int) -> Work:
        path = written(tmp_path / f"{new_id()}.jsonl", messages)

        def open_it() -> None:
            session = Session(JsonlSessionStorage.open(path))
            assert len(session.build_context().messages) == 2 * messages + 1
            session.close()

        return open_it

    await assert_doubles(prepare, 500)


async def test_the_tree(tmp_path: Path):
    def prepare(messages: int) -> Work:
        path = written(tmp_path / f"{new_id()}.jsonl", messages, branch_every=10)

        def look() -> None:
            session = Session(JsonlSessionStorage.read(path))
            assert list(tree_lines(session.storage))
            session.close()

        return look

    await assert_doubles(prepare, 300)


async def test_appending(tmp_path: Path):
    def prepare(messages: int) -> Work:
        session = Session(JsonlSessionStorage.open(written(tmp_path / f"{new_id()}.jsonl", messages)))

        def append() -> None:
            for _ in range(20):
                session.append_message(user_message("more"))
            session.close()

        return append

    # What an entry takes in memory is the same, but dicts grow in steps.
    await assert_same(prepare, 500, counts=[instructions])


async def test_writing(tmp_path: Path):
    await assert_doubles(lambda messages: lambda: written(tmp_path / f"{new_id()}.jsonl", messages), 300)


async def test_listing(tmp_path: Path):
    def prepare(sessions: int) -> Work:
        repo = JsonlSessionRepo(tmp_path / new_id())
        for _ in range(sessions):
            written(repo.folder_of(tmp_path) / f"2026-01-01T00-00-00-000Z_{new_id()}.jsonl", 3, cwd=str(tmp_path))

        def list_them() -> None:
            assert len(list(repo.list(tmp_path))) == sessions

        return list_them

    await assert_doubles(prepare, 100)


async def test_listing_long_sessions(tmp_path: Path):
    """A list reads the beginning and the end of a file, however long it is."""

    def prepare(messages: int) -> Work:
        repo = JsonlSessionRepo(tmp_path / new_id())
        for _ in range(5):
            written(
                repo.folder_of(tmp_path) / f"2026-01-01T00-00-00-000Z_{new_id()}.jsonl", messages, cwd=str(tmp_path)
            )

        def list_them() -> None:
            assert len(list(repo.list(tmp_path))) == 5

        return list_them

    await assert_same(prepare, 300)
