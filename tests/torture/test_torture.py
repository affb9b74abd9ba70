"""A few rounds of the torture in the suite; `python -m tests.torture` is the whole of it."""

from pathlib import Path

import pytest

from tests.torture.__main__ import full_by_limit, kill_rounds, two_writers
from tests.torture.commands import commands
from tests.torture.compaction import conversations
from tests.torture.endings import endings


def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path):
    kill_rounds(tmp_path, 5)


def test_a_full_disk_ends_nothing_and_file_and_memory_agree(tmp_path: Path):
    full_by_limit(tmp_path, 4)


def test_two_writers_never_have_one_session(tmp_path: Path):
    two_writers(tmp_path)


def test_random_conversations_in_small_windows_end_and_lose_nothing_unseen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AGENTCLI_HOME", str(tmp_path / "home"))
    conversations(tmp_path, range(40))


def test_bash_runs_and_writes_nothing_of_a_command_that_was_not_judged(tmp_path: Path):
    commands(tmp_path, 4_000)


def test_no_answer_is_done_unless_its_server_said_so():
    endings(20)
