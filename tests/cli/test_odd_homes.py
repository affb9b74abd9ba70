"""Homes that are not as others: without locks, not to be written, not to be reached, full, or none at all."""

import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.agent.errors import SessionError
from agentcli.cli.main import run_command_line
from agentcli.config import private_file
from agentcli.config.private_file import locked, unlocked_notices
from agentcli.sessions.storage.lock import SessionLock
from agentcli.tui.editing.drafts import Drafts

NO_LOCKS = [errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS, errno.EBADF, errno.EINVAL, errno.EIO]


class Home:
    """A home in which commands run, in this process."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capfd = capfd

    def run(self, *arguments: str) -> tuple[int, str, list[str]]:
        """The exit code, stdout, and the lines on stderr but for the one that says that no model is configured."""
        code = run_command_line(list(arguments))
        out, err = self._capfd.readouterr()
        assert "Traceback" not in err
        return code, out, [line for line in err.splitlines() if "offline pilot" not in line]

    def sessions(self) -> list[Path]:
        return list(self.folder.glob("sessions/*/*.jsonl"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Home]:
    folder, work = tmp_path / "home", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("AGENTCLI_HOME", str(folder))
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        yield Home(folder, capfd)


def refuse_locks(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)


def test_without_locks_everything_works_and_one_line_says_so(home: Home, monkeypatch: pytest.MonkeyPatch):
    refuse_locks(monkeypatch, errno.ENOLCK)
    code, out, err = home.run("run", "run echo hi")
    assert (code, out, len(err)) == (0, "hi\n", 1)
    assert "cannot be locked" in err[0] and os.strerror(errno.ENOLCK) in err[0]
    code, out, err = home.run("run", "--continue", "run echo again")
    assert (code, out, len(err)) == (0, "again\n", 1)
    (file,) = home.sessions()
    assert file.read_text().count('"role":"user"') == 2 and not file.with_name(file.name + ".lock").exists()
    code, out, err = home.run("config", "set", "theme", "dark")
    assert (code, len(err)) == (0, 1) and "cannot be locked" in err[0]
    assert 'theme = "dark"' in (home.folder / "config.toml").read_text()


def test_any_error_but_those_of_a_held_lock_means_that_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for number in NO_LOCKS:
        refuse_locks(monkeypatch, number)
        lock = SessionLock(tmp_path / "s.jsonl")
        assert os.strerror(number) in lock.problem and lock.other_owner is None
        lock.release()
        with locked(tmp_path / "config.toml"):
            pass
        (line,) = unlocked_notices()
        assert str(tmp_path) in line and unlocked_notices() == []
        private_file._unlocked.clear()


@pytest.mark.parametrize("number", [errno.EWOULDBLOCK, errno.EACCES], ids=["EWOULDBLOCK", "EACCES"])
def test_a_lock_that_somebody_has_is_still_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int):
    refuse_locks(monkeypatch, number)
    with pytest.raises(SessionError) as error:
        SessionLock(tmp_path / "s.jsonl")
    assert error.value.code == "locked"


def test_without_locks_the_draft_of_a_living_process_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refuse_locks(monkeypatch, errno.ENOTSUP)
    draft = tmp_path / "d.draft"
    lock = draft.with_name("d.draft.lock")
    draft.write_text("half a thought")
    lock.write_text(f" {os.getppid()}\n")
    assert Drafts(tmp_path).claim() == "" and draft.exists() and lock.exists()
    lock.write_text(" 999999999\n")
    assert Drafts(tmp_path).claim() == "half a thought"


def test_a_pid_that_does_not_fit_on_the_disk_is_no_reason_to_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    lock = SessionLock(tmp_path / "s.jsonl")
    lock.release()
    assert not lock.path.exists()


def use_file(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.folder.rmdir()
    home.folder.touch()


def use_place_below_a_file(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.folder.rmdir()
    home.folder.touch()
    monkeypatch.setenv("AGENTCLI_HOME", str(home.folder / "agentcli"))


def use_sessions_file(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.folder / "sessions").touch()


def use_circle(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.folder.rmdir()
    home.folder.symlink_to(home.folder)


def use_nobodys(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("AGENTCLI_HOME")
    monkeypatch.setattr(Path, "home", no_home)


def refuse_writes(number: int):
    """As a full disk or a table of descriptors without room does: what makes or fills a session's file fails."""

    def use(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        real = os.open

        def refusing(path: object, flags: int, *arguments: int, **more: int) -> int:
            if flags & os.O_CREAT and str(path).startswith(str(home.folder)):
                raise OSError(number, os.strerror(number))
            return real(path, flags, *arguments, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", refusing)

    return use


HOMES = {
    "a file": use_file,
    "below a file": use_place_below_a_file,
    "its sessions are a file": use_sessions_file,
    "a circle of links": use_circle,
    "none": use_nobodys,
    "full": refuse_writes(errno.ENOSPC),
    "over quota": refuse_writes(errno.EDQUOT),
    "read-only": refuse_writes(errno.EROFS),
    "no descriptors": refuse_writes(errno.EMFILE),
}


@pytest.mark.parametrize("kind", HOMES)
def test_an_answer_counts_where_nothing_can_be_stored_and_one_line_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch, kind: str
):
    HOMES[kind](home, monkeypatch)
    code, out, err = home.run("run", "run echo hi")
    assert (code, out, len(err)) == (0, "hi\n", 1), err
    code, out, err = home.run("run", "--output", "json", "run echo hi")
    assert (code, len(err)) == (0, 1) and '"session":null' in out and '"exit_code":0' in out


@pytest.mark.parametrize("kind", ["a file", "a circle of links", "none"])
def test_what_needs_the_home_is_one_line_and_exit_code_2(home: Home, monkeypatch: pytest.MonkeyPatch, kind: str):
    HOMES[kind](home, monkeypatch)
    for words in (["run", "--continue", "hi"], ["sessions", "list"], ["config", "set", "theme", "dark"]):
        code, out, err = home.run(*words)
        assert (code, out, len(err)) == (2, "", 1), (words, err)


@pytest.mark.skipif(os.geteuid() == 0, reason="no folder is closed to root")
def test_a_folder_above_the_home_without_rights_is_no_traceback(home: Home, tmp_path: Path, monkeypatch):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    monkeypatch.setenv("AGENTCLI_HOME", str(closed / "home"))
    assert home.run("run", "run echo hi")[:2] == (0, "hi\n")


def test_a_session_that_was_asked_for_and_cannot_be_written_is_told_before_the_model_is_asked(
    home: Home, monkeypatch: pytest.MonkeyPatch
):
    assert home.run("run", "run echo one")[0] == 0
    (file,) = home.sessions()
    before = file.read_bytes()
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if os.path.samestat(os.fstat(descriptor), file.stat()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    code, out, err = home.run("run", "--continue", "run touch asked")
    assert (code, out, len(err)) == (1, "", 1) and "No space left" in err[0]
    assert not Path("asked").exists() and file.read_bytes() == before
