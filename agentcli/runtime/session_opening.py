"""Session opening: from the choice of a session to the session, and the folder to work in."""

from pathlib import Path

from agentcli.agent.errors import SessionError, UsageError
from agentcli.runtime.session_choice import SessionChoice, working_folder
from agentcli.sessions.entries import SessionHeader
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage


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
    if choice.cwd is not None or _lies_with(session, repo.folder_of(here)):
        return session, here
    return session, _own_folder(session)


def _lies_with(session: Session, place: Path) -> bool:
    """Whether the session's folder is gone, and its file is among the sessions of another: that is its folder now."""
    storage = session.storage
    if not isinstance(storage, JsonlSessionStorage) or Path(session.header.cwd).is_dir():
        return False
    return place.exists() and storage.path.parent.samefile(place)


def _own_folder(session: Session) -> Path:
    """Closes the session if its folder is gone."""
    stored = Path(session.header.cwd)
    if not stored.is_dir():
        session.close()
        hint = "give the folder to work in with --cwd"
        raise SessionError("cwd_missing", f"the folder of this session is gone: {stored}", hint=hint)
    return stored
