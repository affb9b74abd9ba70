"""Which editor is meant: the setting, the environment, or one that is there."""

from pathlib import Path

import pytest

from agentcli.agent.errors import UsageError
from agentcli.config.editor_command import editor_command


def script(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are found."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_editor_is_the_setting_then_the_environment(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mine", "visual", "editor", "nano", "vi"):
        script(programs, name)
    monkeypatch.setenv("VISUAL", "visual --wait 'a b'")
    monkeypatch.setenv("EDITOR", "editor")
    assert editor_command("mine -x") == ["mine", "-x"]
    assert editor_command(None) == ["visual", "--wait", "a b"]
    monkeypatch.setenv("VISUAL", " ")
    assert editor_command(None) == ["editor"]
    monkeypatch.delenv("EDITOR")
    assert editor_command(None) == [str(programs / "nano")]


@pytest.mark.parametrize(("line", "problem"), [("gone -x", "gone"), ("'open", "no command")])
def test_an_editor_that_is_none_is_said(programs: Path, line: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        editor_command(line)


def test_no_editor_at_all_is_said(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="there is no editor"):
        editor_command(None)
