"""Whatever is done to a session, in whatever order: both storages agree, and the context is that of a naive model."""

import itertools
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from agentcli.agent.messages import AssistantMessage, TextContent, user_message
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.ids import now_iso
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage
from tests.sessions.context_texts import context_texts

texts = st.text(max_size=20)


class NaiveModel:
    """A session as twenty lines: what each entry is, its parent, and the leaf."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[str | None, str, Any]] = {}
        self.leaf: str | None = None

    def add(self, id: str, kind: str, value: Any) -> None:
        self.entries[id] = (self.leaf, kind, value)
        self.leaf = id

    def path(self) -> list[str]:
        path: list[str] = []
        id = self.leaf
        while id is not None:
            path.insert(0, id)
            id = self.entries[id][0]
        return path

    def context(self) -> list[str]:
        path = self.path()
        compactions = [place for place, id in enumerate(path) if self.entries[id][1] == "compaction"]
        if not compactions:
            return [self.entries[id][2] for id in path]
        summary, kept = self.entries[path[compactions[-1]]][2]
        before = path[: compactions[-1]]
        before = before[before.index(kept) :] if kept in before else []
        after = path[compactions[-1] + 1 :]
        return [summary, *(self.entries[id][2] for id in [*before, *after] if self.entries[id][1] != "compaction")]


class Sessions(RuleBasedStateMachine):
    entries = Bundle("entries")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.numbers = itertools.count()
        self.repo = JsonlSessionRepo(Path(self.folder.name))

    @initialize(target=entries, text=texts)
    def begin(self, text: str) -> str:
        header = SessionHeader(id="one", timestamp=now_iso(), cwd=self.folder.name)
        self.file = Session(JsonlSessionStorage.create(Path(self.folder.name) / "s.jsonl", header))
        self.memory = Session(InMemorySessionStorage(header))
        self.model = NaiveModel()
        self.labels: dict[str, str] = {}
        return self.say(text)

    def both(self, kind: str, value: Any, act: Any) -> str:
        """Do the same to both sessions: the entry of the one is given to the other, so that the ids are the same."""
        id = act(self.file)
        entry = self.file.get_entry(id)
        assert entry is not None
        self.memory.storage.append_entry(entry)
        self.model.add(id, kind, value)
        return id

    @rule(target=entries, text=texts)
    def say(self, text: str) -> str:
        return self.both("message", text, lambda session: session.append_message(user_message(text)))

    @rule(target=entries, text=texts)
    def answer(self, text: str) -> str:
        message = AssistantMessage([TextContent(text)])
        return self.both("message", text, lambda session: session.append_message(message))

    @rule(target=entries, text=texts)
    def note(self, text: str) -> str:
        return self.both("message", text, lambda session: session.append_custom_message("note", text))

    @rule(target=entries, summary=texts, kept=entries)
    def compact(self, summary: str, kept: str) -> str:
        value = (summary, kept)
        return self.both("compaction", value, lambda session: session.append_compaction(summary, kept, 5))

    @rule(target_id=entries)
    def move(self, target_id: str) -> None:
        self.file.move_to(target_id)
        self.memory.storage.append_entry(self.file.storage.get_entries()[-1])
        self.model.leaf = target_id

    @rule()
    def start_over(self) -> None:
        self.file.move_to(None)
        self.memory.storage.append_entry(self.file.storage.get_entries()[-1])
        self.model.leaf = None

    @rule(target_id=entries, label=st.none() | texts)
    def label(self, target_id: str, label: str | None) -> None:
        self.file.append_label(target_id, label)
        self.memory.storage.append_entry(self.file.storage.get_entries()[-1])
        self.labels.pop(target_id, None)
        if label:
            self.labels[target_id] = label

    @rule(name=texts)
    def rename(self, name: str) -> None:
        self.file.append_session_info(name)
        self.memory.storage.append_entry(self.file.storage.get_entries()[-1])

    @rule()
    def reopen(self) -> None:
        self.file.close()
        self.file = Session(JsonlSessionStorage.open(Path(self.folder.name) / "s.jsonl"))
        assert self.file.storage.notices == []
        self.memory = Session(InMemorySessionStorage(self.memory.header, self.memory.get_entries()))

    @rule(at=consumes(entries))
    def fork_in_place(self, at: str) -> None:
        """A fork at any entry has the context that the session had there."""
        fork = self.repo.fork(self.file.storage.path, entry_id=at, position="at")
        leaf, self.model.leaf = self.model.leaf, at
        assert context_texts(fork) == self.model.context()
        self.model.leaf = leaf
        fork.close()
        fork.storage.path.unlink()

    @invariant()
    def all_agree(self) -> None:
        if not hasattr(self, "model"):
            return
        assert self.file.leaf_id == self.memory.leaf_id == self.model.leaf
        assert self.file.storage.heads() == self.memory.storage.heads()
        assert self.file.get_entries() == self.memory.get_entries()
        assert self.file.build_context() == self.memory.build_context()
        assert [entry.id for entry in self.file.get_branch()] == self.model.path()
        assert context_texts(self.file) == self.model.context()
        assert self.file.labels == self.memory.labels == self.labels
        assert self.file.name == self.memory.name

    def teardown(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
        self.folder.cleanup()


TestSessions = Sessions.TestCase
TestSessions.settings = settings(stateful_step_count=30)
