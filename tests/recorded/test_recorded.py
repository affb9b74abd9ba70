"""Formats stay as they were recorded, byte for byte: events, RPC, session files, exports."""

from pathlib import Path

import pytest

from tests.recorded.recording import EVERY_KIND, INPUTS, SHOWN, Recorder


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


def recorded(name: str) -> list[str]:
    return (INPUTS / name).read_text().splitlines()


def test_events_and_the_session_file(recorder: Recorder):
    events = recorder.events()
    assert recorder.comparable(events) == recorded("events.jsonl")
    assert recorder.comparable(recorder.session_lines()) == recorded("session.jsonl")


def test_rpc(recorder: Recorder):
    assert recorder.comparable(recorder.rpc()) == recorded("rpc.txt")


@pytest.mark.parametrize("name", SHOWN)
def test_an_old_session_file_is_shown_and_exported(name: str, recorder: Recorder):
    before = EVERY_KIND.read_bytes()
    assert recorder.shown(SHOWN[name]) == recorded(name)
    assert EVERY_KIND.read_bytes() == before


def test_an_old_session_file_goes_on(recorder: Recorder):
    copy = recorder.cwd / "old.jsonl"
    copy.write_bytes(EVERY_KIND.read_bytes())
    recorder.run("run", "--session", str(copy), "--cwd", str(recorder.cwd), "--model", "offline/pilot", "run echo more")
    assert copy.read_bytes().startswith(EVERY_KIND.read_bytes())
    assert "more" in recorder.run("sessions", "show", str(copy))
