"""RPC handlers: what each command does. A handler's annotations say which command it takes and what data it gives.

What raises is a failure response and nothing more. `HANDLERS` has them by the type of their command.
"""

from collections.abc import Awaitable, Callable, Sequence
from inspect import get_annotations
from typing import Any

from agentcli.agent.errors import AgentBusyError, AgentcliError, UsageError
from agentcli.agent.messages import (
    BashExecutionMessage,
    ImageContent,
    UserMessage,
    text_of,
    user_message,
)
from agentcli.agent.queues import PendingMessageQueue
from agentcli.agent.threads import to_thread
from agentcli.config.masking import mask_data
from agentcli.config.paths import sessions_folder
from agentcli.headless.rpc import commands as ask
from agentcli.headless.rpc import data
from agentcli.headless.rpc.session import RpcSession
from agentcli.runtime import switching
from agentcli.runtime.events import CompactionEndEvent
from agentcli.runtime.stats import RuntimeStats
from agentcli.sessions.context import ModelChoice
from agentcli.sessions.entries import MessageEntry

HANDLERS: dict[type[ask.Command], Callable[[RpcSession, Any], Awaitable[Any]]] = {}


def _handles(function: Any) -> Any:
    HANDLERS[get_annotations(function)["command"]] = function
    return function


def takes_long(command: ask.Command) -> bool:
    """Whether other commands are read while it works. All others are done one after another."""
    match command:
        case ask.Prompt() | ask.Bash() | ask.Compact() | ask.GoTo(summarize=True):
            return True
        case _:
            return False


@_handles
async def _prompt(rpc: RpcSession, command: ask.Prompt) -> data.Disposition:
    runtime = rpc.runtime
    if runtime.is_busy:
        match command.streaming_behavior:
            case "steer":
                return data.Disposition("queued", runtime.steer(command.message, command.images))
            case "follow_up":
                return data.Disposition("queued", runtime.follow_up(command.message, command.images))
            case _:
                hint = "say what becomes of it with streaming_behavior, or abort first"
                raise AgentBusyError("something is worked on already", hint=hint)
    runtime.require_ready()
    return data.Disposition("started" if await rpc.start(command.message, command.images) else "handled")


@_handles
async def _steer(rpc: RpcSession, command: ask.Steer) -> data.Disposition:
    return data.Disposition("queued", rpc.runtime.steer(command.message, command.images))


@_handles
async def _follow_up(rpc: RpcSession, command: ask.FollowUp) -> data.Disposition:
    return data.Disposition("queued", rpc.runtime.follow_up(command.message, command.images))


@_handles
async def _abort(rpc: RpcSession, command: ask.Abort) -> None:
    rpc.runtime.abort()


@_handles
async def _get_queue(rpc: RpcSession, command: ask.GetQueue) -> data.Queues:
    agent = rpc.runtime.agent
    return data.Queues(agent.steering_queue.items, agent.follow_up_queue.items)


@_handles
async def _edit_queued(rpc: RpcSession, command: ask.EditQueued) -> None:
    queue = _queue_with(rpc, command.queue_id)
    before = next(item.message for item in queue.items if item.id == command.queue_id)
    images: Sequence[ImageContent] = command.images or ()
    if command.images is None and isinstance(before, UserMessage):
        images = [block for block in before.content if isinstance(block, ImageContent)]
    message = user_message(rpc.runtime.expand(command.message), images)
    queue.edit(command.queue_id, mask_data(message))


@_handles
async def _move_queued(rpc: RpcSession, command: ask.MoveQueued) -> None:
    _queue_with(rpc, command.queue_id).move(command.queue_id, command.position)


@_handles
async def _remove_queued(rpc: RpcSession, command: ask.RemoveQueued) -> data.Removed:
    return data.Removed(_queue_with(rpc, command.queue_id).remove(command.queue_id))


@_handles
async def _clear_queue(rpc: RpcSession, command: ask.ClearQueue) -> data.Queues:
    agent = rpc.runtime.agent
    queues = data.Queues(agent.steering_queue.items, agent.follow_up_queue.items)
    agent.clear_all_queues()
    return queues


@_handles
async def _get_state(rpc: RpcSession, command: ask.GetState) -> data.State:
    return rpc.state()


@_handles
async def _get_messages(rpc: RpcSession, command: ask.GetMessages) -> data.Messages:
    return data.Messages(list(rpc.runtime.agent.state.messages))


@_handles
async def _get_last_assistant_text(rpc: RpcSession, command: ask.GetLastAssistantText) -> data.Text:
    last = rpc.runtime.last_message
    return data.Text(text_of(last.content) if last is not None else None)


@_handles
async def _set_model(rpc: RpcSession, command: ask.SetModel) -> data.ModelChosen:
    model = rpc.runtime.set_model(ModelChoice(command.provider, command.model_id), command.thinking_level)
    return data.ModelChosen(data.ModelInfo.of(model), rpc.runtime.agent.state.thinking_level)


@_handles
async def _get_available_models(rpc: RpcSession, command: ask.GetAvailableModels) -> data.Models:
    return data.Models([data.ModelInfo.of(model) for model in rpc.runtime.models()])


@_handles
async def _set_thinking_level(rpc: RpcSession, command: ask.SetThinkingLevel) -> data.Level:
    return data.Level(rpc.runtime.set_thinking_level(command.level))


@_handles
async def _get_available_thinking_levels(rpc: RpcSession, command: ask.GetAvailableThinkingLevels) -> data.Levels:
    return data.Levels(rpc.runtime.thinking_levels)


@_handles
async def _set_steering_mode(rpc: RpcSession, command: ask.SetSteeringMode) -> None:
    rpc.runtime.agent.steering_queue.mode = command.mode


@_handles
async def _set_follow_up_mode(rpc: RpcSession, command: ask.SetFollowUpMode) -> None:
    rpc.runtime.agent.follow_up_queue.mode = command.mode


@_handles
async def _set_permission_mode(rpc: RpcSession, command: ask.SetPermissionMode) -> None:
    rpc.runtime.permission_mode = command.mode


@_handles
async def _answer_permission(rpc: RpcSession, command: ask.AnswerPermission) -> None:
    if not rpc.runtime.answer_permission(command.request_id, command.verdict, command.remember, command.reason):
        raise UsageError(f"no permission request {command.request_id} waits for an answer", hint="see: get_state")


@_handles
async def _compact(rpc: RpcSession, command: ask.Compact) -> CompactionEndEvent:
    end = await rpc.runtime.compact(command.custom_instructions)
    if end is None or end.summary is None:
        said = (end and end.error_message) or ("it was aborted" if end else "there is nothing to compact")
        raise AgentcliError(said)
    return end


@_handles
async def _bash(rpc: RpcSession, command: ask.Bash) -> BashExecutionMessage:
    return await rpc.runtime.bash(command.command, exclude_from_context=command.exclude_from_context)


@_handles
async def _abort_bash(rpc: RpcSession, command: ask.AbortBash) -> None:
    rpc.runtime.abort_bash()


@_handles
async def _get_session_stats(rpc: RpcSession, command: ask.GetSessionStats) -> RuntimeStats:
    return rpc.runtime.stats()


@_handles
async def _get_commands(rpc: RpcSession, command: ask.GetCommands) -> data.Commands:
    return data.Commands(rpc.runtime.commands())


@_handles
async def _list_sessions(rpc: RpcSession, command: ask.ListSessions) -> data.Sessions:
    return data.Sessions(await to_thread(_listed, None if command.all else rpc.runtime.cwd, command.search))


@_handles
async def _new_session(rpc: RpcSession, command: ask.NewSession) -> data.SessionOpened:
    return await rpc.use(await switching.new_session(rpc.runtime))


@_handles
async def _switch_session(rpc: RpcSession, command: ask.SwitchSession) -> data.SessionOpened:
    return await rpc.use(await switching.switch_session(rpc.runtime, command.session_path))


@_handles
async def _fork(rpc: RpcSession, command: ask.Fork) -> data.SessionOpened:
    entry_id = rpc.runtime.session.storage.find_id(command.entry_id)
    runtime, text = await switching.fork_session(rpc.runtime, entry_id, command.position)
    return await rpc.use(runtime, text)


@_handles
async def _clone(rpc: RpcSession, command: ask.Clone) -> data.SessionOpened:
    return await rpc.use(await switching.clone_session(rpc.runtime))


@_handles
async def _get_entries(rpc: RpcSession, command: ask.GetEntries) -> data.Entries:
    session = rpc.runtime.session
    ids = [head.id for head in session.storage.heads()]
    if command.since is not None:
        ids = ids[ids.index(session.storage.find_id(command.since)) + 1 :]
    # Kinds that this version does not know are among them, as far as it knows them.
    return data.Entries(list(session.storage.get_some(ids)), session.leaf_id)  # pyright: ignore[reportArgumentType]


@_handles
async def _get_tree(rpc: RpcSession, command: ask.GetTree) -> data.Tree:
    from agentcli.sessions.tree import tree_lines

    storage = rpc.runtime.session.storage
    lines = list(tree_lines(storage, everything=command.everything))
    nodes = [
        data.TreeNode(
            id=line.head.id,
            parent_id=line.parent_id,
            type=line.head.type,
            text=entry.describe(),
            label=line.label,
            depth=line.depth,
            on_path=line.on_path,
            is_leaf=line.is_leaf,
        )
        for line, entry in zip(lines, storage.get_some([line.head.id for line in lines]), strict=True)
    ]
    return data.Tree(nodes, storage.get_leaf_id())


@_handles
async def _get_fork_messages(rpc: RpcSession, command: ask.GetForkMessages) -> data.ForkMessages:
    said = [
        data.ForkMessage(entry.id, text_of(entry.message.content))
        for entry in rpc.runtime.session.find_entries("message")
        if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage)
    ]
    return data.ForkMessages(said)


@_handles
async def _go_to(rpc: RpcSession, command: ask.GoTo) -> data.MovedTo:
    runtime = rpc.runtime
    entry_id = None if command.entry_id is None else runtime.session.storage.find_id(command.entry_id)
    moved = await runtime.go_to(entry_id, summarize=command.summarize, instructions=command.custom_instructions)
    return data.MovedTo(moved.moved, runtime.session.leaf_id, moved.edit_text)


@_handles
async def _label(rpc: RpcSession, command: ask.Label) -> None:
    rpc.runtime.label(rpc.runtime.session.storage.find_id(command.entry_id), command.label)


@_handles
async def _set_session_name(rpc: RpcSession, command: ask.SetSessionName) -> None:
    rpc.runtime.name_session(command.name)


@_handles
async def _export_html(rpc: RpcSession, command: ask.ExportHtml) -> data.Exported:
    from agentcli.sessions.export.export import export_session

    session = rpc.runtime.session
    path = rpc.runtime.cwd / (command.output_path or f"agentcli-{session.id}.html")
    try:
        path.touch(mode=0o600)
        path.write_text(export_session(session, "html"), "utf-8", newline="")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", hint="give another output_path") from None
    return data.Exported(str(path))


def _queue_with(rpc: RpcSession, id: str) -> PendingMessageQueue:
    for queue in (rpc.runtime.agent.steering_queue, rpc.runtime.agent.follow_up_queue):
        if any(item.id == id for item in queue.items):
            return queue
    raise UsageError(f"no message {id} waits any more", hint="see: get_queue")


def _listed(cwd: Any, search: str | None) -> list[data.ListedSession]:
    from agentcli.sessions.repo import JsonlSessionRepo

    infos = JsonlSessionRepo(sessions_folder()).list(cwd)
    if search is None:
        found = [(info, None) for info in infos]
    else:
        from agentcli.sessions.search import search_sessions

        found = [(hit.info, hit.excerpt) for hit in search_sessions(infos, search)]
    return [
        data.ListedSession(
            id=info.id,
            path=str(info.path),
            cwd=info.cwd,
            created=info.created,
            modified=info.modified,
            name=info.name,
            first_message=info.first_message,
            parent_session=info.parent_session,
            excerpt=excerpt,
        )
        for info, excerpt in found
    ]
