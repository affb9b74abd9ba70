"""Which session a run goes on with, and in which folder."""

from pathlib import Path

from msgspec import Struct

from agentcli.agent.errors import SessionError, UsageError
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.memory_storage import InMemorySessionStorage
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session


class SessionChoice(Struct, frozen=True, kw_only=True):
    """New, unless one of these says otherwise."""

    continue_: bool = False
    """The folder's last session."""
    reference: str | None = None
    """A path, an id, or a part of one."""
    in_memory: bool = False
    cwd: Path | None = None
    """The folder that was asked for; None is the current one, or the session's own."""
    opened: Session | None = None
    """A session that is open already, for programs that make their own. The runtime closes it."""


def open_session(choice: SessionChoice, repo: JsonlSessionRepo) -> tuple[Session, Path]:
    """The session and the folder to work in.

    Raises:
        UsageError: the choices contradict each other, or the folder is none.
        SessionError: there is no such session; or its folder is gone and no other was asked for.
    """
    if sum((choice.continue_, choice.reference is not None, choice.in_memory)) > 1:
        raise UsageError("--continue, --session and --no-session exclude each other", hint="give one of them")
    if choice.opened is not None:
        return choice.opened, _own_folder(choice.opened)
    here = working_folder(choice.cwd)
    if choice.in_memory:
        header = SessionHeader(id=new_id(), timestamp=now_iso(), cwd=str(here))
        return Session(InMemorySessionStorage(header)), here
    if choice.reference is not None:
        session = repo.open(repo.find(choice.reference, here))
    elif choice.continue_:
        latest = repo.latest(here)
        if latest is None:
            raise SessionError(
                "not_found", f"there is no session in {here} to continue", hint="start without --continue"
            )
        session = repo.open(latest)
    else:
        return repo.create(here), here
    return session, here if choice.cwd is not None else _own_folder(session)


def _own_folder(session: Session) -> Path:
    """Closes the session if its folder is gone."""
    stored = Path(session.header.cwd)
    if not stored.is_dir():
        session.close()
        hint = "give the folder to work in with --cwd"
        raise SessionError("cwd_missing", f"the folder of this session is gone: {stored}", hint=hint)
    return stored


def working_folder(chosen: Path | None) -> Path:
    """The folder to work in, absolute.

    Raises:
        UsageError: it does not exist, or is no folder.
    """
    try:
        folder = Path.cwd() if chosen is None else Path.cwd() / chosen.expanduser()
    except FileNotFoundError:
        if chosen is None or not chosen.is_absolute():
            raise UsageError("the current folder does not exist any more", hint="cd to another one") from None
        folder = chosen
    if not folder.is_dir():
        problem = "is not a folder" if folder.exists() else "does not exist"
        raise UsageError(f"the folder {folder} {problem}", hint="give another with --cwd")
    return folder
