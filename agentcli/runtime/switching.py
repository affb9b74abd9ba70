"""Switching: from the runtime of one session to that of another.

The other one is opened first. If that fails nothing has changed; then the old one is closed, which ends its run, its
background jobs and the person's command. What was queued in it is still in the old one's queues, for the caller to take
back. Listeners do not come along: subscribe to the new one.

What comes along is what the program asked for at the start (`stream_fn`, `answers_permissions`, limits …). Extensions
and settings are loaded anew. In the same folder the permission mode and the rules that the person has allowed or denied
for the session hold on, for they were given until agentcli ends; another folder begins with its own.
"""

import contextlib
from pathlib import Path

from msgspec.structs import replace

from agentcli.agent.errors import SessionError
from agentcli.agent.messages import UserMessage, text_of
from agentcli.config.paths import sessions_folder
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.runtime import Runtime
from agentcli.runtime.session_choice import SessionChoice
from agentcli.sessions.codec import decode_entry
from agentcli.sessions.copying import branch_lines, fork_leaf
from agentcli.sessions.entries import MessageEntry
from agentcli.sessions.ids import new_id, now_iso
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage, read_header
from agentcli.sessions.storage.memory_storage import InMemorySessionStorage


async def new_session(runtime: Runtime) -> Runtime:
    """An empty session in the same folder, with the present model, thinking level and permission mode.

    Raises:
        UsageError, ConfigError: the folder is gone, or the settings are wrong by now.
    """
    choice = SessionChoice(cwd=runtime.cwd, in_memory=runtime.options.session.in_memory)
    return await _go_over(runtime, _options(runtime, choice, keeps_model=True))


async def switch_session(runtime: Runtime, reference: str) -> Runtime:
    """Another session, in its own folder and with its own model. The one that is open already is `runtime` itself.

    Args:
        reference: a path, an id, or a part of one.

    Raises:
        SessionError: `not_found`, `ambiguous`, `locked`, `cwd_missing`, `not_a_session`, `storage`.
        UsageError, ConfigError: the settings there are wrong.
    """
    storage = runtime.session.storage
    if reference == runtime.session.id:
        return runtime
    path = JsonlSessionRepo(sessions_folder()).find(reference, runtime.cwd)
    if isinstance(storage, JsonlSessionStorage) and storage.path.exists() and path.samefile(storage.path):
        return runtime
    options = _options(runtime, SessionChoice(reference=str(path)), same_folder=_folder_of(path) == runtime.cwd)
    return await _go_over(runtime, options)


async def fork_session(runtime: Runtime, entry_id: str, position: str = "before") -> tuple[Runtime, str | None]:
    """A new session that ends at an entry of this one, or before it. A run that goes on is aborted first.

    Args:
        position: `before` the entry, which must be a user message, or `at` it.

    Returns:
        The runtime, and what the person said at the entry, to say it anew; None for `at`.

    Raises:
        SessionError: `not_found`, `invalid_fork_target`, `storage`; `cwd_missing`.
    """
    session = runtime.session
    leaf_id = fork_leaf(session.storage, entry_id, position)
    entry = session.get_entry(entry_id) if position == "before" else None
    said = entry.message if isinstance(entry, MessageEntry) else None
    text = text_of(said.content) if isinstance(said, UserMessage) else None
    return await _copy(runtime, leaf_id, "stopped to fork the session"), text


async def clone_session(runtime: Runtime) -> Runtime:
    """A new session with all of the present branch. A run that goes on is aborted first, and its end comes along.

    Raises:
        SessionError: `storage`; `cwd_missing`.
    """
    await _stop(runtime, "stopped to clone the session")
    return await _copy(runtime, runtime.session.leaf_id, "")


async def _copy(runtime: Runtime, leaf_id: str | None, reason: str) -> Runtime:
    """Go over to a copy of the session's branch that ends at `leaf_id`."""
    await _stop(runtime, reason)
    runtime.store()
    session = _branch_off(runtime, leaf_id)
    in_memory = isinstance(session.storage, InMemorySessionStorage)
    choice = SessionChoice(opened=session, in_memory=in_memory)
    try:
        return await _go_over(runtime, _options(runtime, choice, keeps_model=session.build_context().model is None))
    except BaseException:
        session.close()
        if isinstance(session.storage, JsonlSessionStorage):
            session.storage.path.unlink(missing_ok=True)
        raise


def _branch_off(runtime: Runtime, leaf_id: str | None) -> Session:
    session = runtime.session
    if isinstance(session.storage, JsonlSessionStorage):
        return JsonlSessionRepo(sessions_folder()).branch_off(session, leaf_id, cwd=runtime.cwd)
    header = replace(session.header, id=new_id(), timestamp=now_iso(), cwd=str(runtime.cwd), parent_session=session.id)
    lines = branch_lines(session.storage, leaf_id)
    return Session(InMemorySessionStorage(header, [decode_entry(line) for line in lines]))


def _options(
    runtime: Runtime, choice: SessionChoice, *, keeps_model: bool = False, same_folder: bool = True
) -> RuntimeOptions:
    mode = runtime.permission_mode if same_folder else runtime.options.permission_mode
    model, level = (runtime.model_choice, runtime.wanted_thinking_level) if keeps_model else (None, None)
    return replace(runtime.options, session=choice, model=model, thinking_level=level, permission_mode=mode)


async def _go_over(runtime: Runtime, options: RuntimeOptions) -> Runtime:
    """Open the new one, then close the old one."""
    new = Runtime.create(options)
    try:
        new.take_over(runtime)
        await _stop(runtime, "stopped to go to another session")
        await runtime.close()
    except BaseException:
        await new.close()
        raise
    return new


async def _stop(runtime: Runtime, reason: str) -> None:
    while runtime.is_busy:
        runtime.abort(reason)
        await runtime.wait_for_idle()


def _folder_of(path: Path) -> Path | None:
    """Where a session works; None if that is only known when it is opened (a file in another format)."""
    with contextlib.suppress(SessionError):
        return Path(read_header(path).cwd)
    return None
