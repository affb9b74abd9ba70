"""Files of other writers and older versions become new sessions; what they were is never touched."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import AssistantMessage, CustomMessage, StopReason, ToolResultMessage, UserMessage, text_of
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage

USAGE = {
    "input": 5,
    "output": 2,
    "cacheRead": 1,
    "cacheWrite": 0,
    "totalTokens": 8,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3},
}


def entry(type: str, id: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    return {"type": type, "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", **fields}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": 1}


ASSISTANT = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
        {"type": "text", "text": "I look"},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"parentId": "mine", "path": "a"}},
    ],
    "api": "anthropic-messages",
    "provider": "anthropic",
    "model": "m",
    "stopReason": "toolUse",
    "usage": USAGE,
    "timestamp": 2,
}
RESULT = {
    "role": "toolResult",
    "toolCallId": "c1",
    "toolName": "read",
    "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
    "isError": True,
    "timestamp": 3,
}

V3 = [
    {"type": "session", "version": 3, "id": "0197aaaa-0000-7000-8000-000000000001", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/tmp/w", "parentSession": "/x.jsonl"},
    entry("model_change", "1", None, provider="anthropic", modelId="m"),
    entry("thinking_level_change", "2", "1", thinkingLevel="high"),
    entry("message", "3", "2", message=user("first")),
    entry("message", "4", "3", message=ASSISTANT),
    entry("message", "5", "4", message=RESULT),
    entry("compaction", "6", "5", summary="so far", firstKeptEntryId="4", tokensBefore=90, details={"readFiles": ["a"], "modifiedFiles": []}, fromHook=False),
    entry("label", "7", "6", targetId="3", label="start"),
    entry("message", "8", "7", message={"role": "bashExecution", "command": "ls", "output": "x", "exitCode": 0, "cancelled": False, "truncated": False, "timestamp": 4}),
    entry("branch_summary", "9", "8", fromId="4", summary="elsewhere"),
    entry("custom_message", "10", "9", customType="note", content="remember", display=True),
    entry("session_info", "11", "10", name="Old one"),
    entry("hologram", "12", "11", beam=[1]),
    entry("message", "13", "12", message=user("last")),
]  # fmt: skip


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def repo(tmp_path: Path) -> JsonlSessionRepo:
    return JsonlSessionRepo(tmp_path / "sessions")


def test_a_version_3_file_with_other_names_becomes_the_same_session(repo: JsonlSessionRepo, tmp_path: Path):
    source = write(tmp_path / "old.jsonl", V3)
    before = source.read_bytes()
    session = repo.open(repo.import_file(source))
    assert source.read_bytes() == before
    assert (session.id, session.header.cwd, session.header.parent_session) == (V3[0]["id"], "/tmp/w", "/x.jsonl")
    assert (session.name, session.labels) == ("Old one", {"3": "start"})
    first, call, result, *_ = [entry.message for entry in session.find_entries("message")]
    assert isinstance(first, UserMessage) and text_of(first.content) == "first"
    assert isinstance(call, AssistantMessage) and call.stop_reason == StopReason.TOOL_CALLS
    assert call.tool_calls[0].arguments == {"parentId": "mine", "path": "a"}
    assert call.content[0].signature == "sig"
    assert (call.usage.total_tokens, call.usage.cost.total) == (8, 0.3)
    assert isinstance(result, ToolResultMessage) and result.is_error and result.content[0].mime_type == "image/png"
    context = session.build_context()
    assert [message.role for message in context.messages] == [
        "compactionSummary", "assistant", "toolResult", "bashExecution", "branchSummary", "custom", "user",
    ]  # fmt: skip
    assert (context.thinking_level, context.model.model_id) == ("high", "m")
    assert session.find_entries("compaction")[0].details == {"read_files": ["a"], "modified_files": []}
    assert session.find_entries("hologram")[0].id == "12"
    session.close()


def test_a_version_1_list_gets_ids_parents_and_its_kept_entry(repo: JsonlSessionRepo, tmp_path: Path):
    source = write(tmp_path / "v1.jsonl", [
        {"type": "session", "id": "0197bbbb-0000-7000-8000-000000000001", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/tmp/w"},
        {"type": "message", "timestamp": "2025-01-01T00:00:01.000Z", "message": user("one")},
        {"type": "message", "timestamp": "2025-01-01T00:00:02.000Z", "message": user("two")},
        {"type": "compaction", "timestamp": "2025-01-01T00:00:03.000Z", "summary": "sum", "firstKeptEntryIndex": 2, "tokensBefore": 9},
        {"type": "message", "timestamp": "2025-01-01T00:00:04.000Z", "message": user("three")},
    ])  # fmt: skip
    before = source.read_bytes()
    session = repo.open(source)
    assert session.storage.path != source and source.read_bytes() == before
    assert "older format" in session.storage.notices[-1]
    assert session.header.version == 3
    assert [entry.parent_id for entry in session.get_branch()] == [
        None,
        *[entry.id for entry in session.get_branch()][:-1],
    ]
    messages = session.build_context().messages
    assert [getattr(message, "summary", None) or text_of(message.content) for message in messages] == [
        "sum",
        "two",
        "three",
    ]
    session.close()
    again = repo.open(source)
    assert again.storage.path == session.storage.path, "the second opening makes no second copy"
    again.close()


def test_a_version_2_hook_message_is_a_custom_message(repo: JsonlSessionRepo, tmp_path: Path):
    hook = {"role": "hookMessage", "customType": "h", "content": "hooked", "display": True, "timestamp": 1}
    source = write(
        tmp_path / "v2.jsonl",
        [
            {**V3[0], "version": 2},
            entry("message", "1", None, message=user("hi")),
            entry("message", "2", "1", message=hook),
        ],
    )
    session = repo.open(source)
    message = session.build_context().messages[1]
    assert isinstance(message, CustomMessage) and message.custom_type == "h"
    session.close()


@pytest.mark.parametrize("opening", [JsonlSessionStorage.open, JsonlSessionStorage.read])
def test_an_older_file_is_never_opened_in_place(tmp_path: Path, opening):
    source = write(tmp_path / "old.jsonl", V3)
    with pytest.raises(SessionError, match="agentcli sessions import") as error:
        opening(source)
    assert error.value.code == "old_format"
    assert sorted(tmp_path.iterdir()) == [source]


def test_importing_twice_overwrites_nothing(repo: JsonlSessionRepo, tmp_path: Path):
    source = write(tmp_path / "old.jsonl", V3)
    first, second = repo.import_file(source), repo.import_file(source)
    assert first != second
    assert len(list(repo.files())) == 2


def test_an_own_file_is_imported_byte_for_byte_but_for_its_header(repo: JsonlSessionRepo, tmp_path: Path):
    from agentcli.agent.messages import user_message

    session = repo.create(tmp_path)
    session.append_message(user_message("hi"))
    session.append_session_info("named")
    session.close()
    outside = tmp_path / "copy.jsonl"
    outside.write_bytes(session.storage.path.read_bytes() + b"garbage\n")
    imported = repo.import_file(outside, cwd=tmp_path / "sub")
    assert imported.read_bytes().splitlines()[1:] == session.storage.path.read_bytes().splitlines()[1:]
    assert JsonlSessionStorage.read(imported).header.cwd == str(tmp_path / "sub")


@pytest.mark.parametrize("content", ["", "hello\n", "{}\n", '{"type":"session"}\n', '[{"type":"session","id":"x"}]\n'])
def test_what_is_no_session_is_refused_and_leaves_nothing_behind(repo: JsonlSessionRepo, tmp_path: Path, content: str):
    source = tmp_path / "notes.jsonl"
    source.write_text(content)
    with pytest.raises(SessionError) as error:
        repo.import_file(source)
    assert error.value.code == "not_a_session"
    assert not repo.folder.exists()


def test_an_import_that_cannot_be_written_leaves_no_stray_copy(
    repo: JsonlSessionRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agentcli.sessions.copying.os.fsync", refuse)
    with pytest.raises(SessionError, match="No space left"):
        repo.import_file(write(tmp_path / "old.jsonl", V3))
    assert [file for file in repo.folder.rglob("*") if file.is_file()] == []


@pytest.mark.parametrize("moment", [1767225601000.5, "2026-01-01T00:00:01.000Z", 1767225601000])
def test_times_of_messages_become_milliseconds(repo: JsonlSessionRepo, tmp_path: Path, moment: object):
    message = {**user("hi"), "timestamp": moment}
    session = repo.open(
        repo.import_file(write(tmp_path / "o.jsonl", [V3[0], entry("message", "1", None, message=message)]))
    )
    assert session.build_context().messages[0].timestamp == 1767225601000
    session.close()
