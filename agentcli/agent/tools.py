"""Tools: what an agent can do, as the loop sees it."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentcli.agent.messages import Usage, UserContent


class ToolExecutionMode(StrEnum):
    """How the calls of one assistant message run."""

    SEQUENTIAL = "sequential"
    """Each call is whole, its result included, before the next one is prepared."""
    PARALLEL = "parallel"
    """At the same time as its neighbours."""
    EXCLUSIVE = "exclusive"
    """Alone, in its place: after every call before it has ended, and before any call after it begins."""


class AgentToolResult(Struct, kw_only=True):
    """What a tool gives back, and what an update shows while it works."""

    content: list[UserContent]
    """What the model reads."""
    details: Any = None
    """What programs and screens read: a Struct, or plain data."""
    usage: Usage | None = None
    added_tool_names: list[str] | None = None
    terminate: bool | None = None
    """True asks to end the run after this batch; it ends if every result of the batch asks."""
    is_error: bool = False


OnUpdate = Callable[[AgentToolResult], None]
"""Shows a result that is still growing. Cheap; call it in the event loop's thread."""

Execute = Callable[..., Awaitable[AgentToolResult] | AgentToolResult]
"""`execute(tool_call_id, params, signal, on_update, context)`.

`params` is the validated dict, `signal` an `AbortSignal`, `context` the `AgentContext` of this turn. Raise to report an
error; the message is what the model reads. A tool that listens to the signal has `ABORT_GRACE_S` to end by itself.
"""


class ToolKind(StrEnum):
    """What the calls of a tool do. Permissions decide by it; the names are those of the Agent Client Protocol."""

    READ = "read"
    """Reads one file."""
    EDIT = "edit"
    """Makes or changes files."""
    SEARCH = "search"
    """Lists or searches files."""
    EXECUTE = "execute"
    """Runs a command, which may do anything."""
    FETCH = "fetch"
    """Gets something from the network."""
    OTHER = "other"
    """Anything else, or not known."""


READ_ONLY_KINDS = frozenset({ToolKind.READ, ToolKind.SEARCH})
"""Kinds whose calls change nothing."""
PATH_KINDS = READ_ONLY_KINDS | {ToolKind.EDIT}
"""Kinds whose target is a path."""


class ToolTarget(Struct, frozen=True):
    """What a call acts on: a path (kinds `read`, `edit`, `search`) or a command (`execute`)."""

    argument: str
    """The name of the argument that contains it."""
    find_path: Callable[[str, Path], Path] | None = None
    """`find_path(value, cwd)` is the file that the tool takes for a value. None: the value as a path from `cwd`."""
    is_sandboxed: Callable[[dict[str, Any]], bool] | None = None
    """Whether a call with these arguments runs in the sandbox, if there is one. None: no call does."""
    is_follow_up: Callable[[dict[str, Any]], bool] | None = None
    """Whether a call only looks after what a permitted call has started; it needs no permission. None: no call does."""


class AgentTool(Struct, frozen=True, kw_only=True):
    """A tool as the model is told of it, and what runs when it is called."""

    name: str
    """What the model calls."""
    label: str = ""
    """What people read."""
    description: str
    parameters: dict[str, Any]
    """JSON Schema of one object. `parameters_of` makes it from a Struct."""
    execute: Execute
    prepare_arguments: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Turns what models are used to writing into what `parameters` says, before it is validated."""
    execution_mode: ToolExecutionMode | None = None
    """`exclusive` is for a tool that changes what other calls may look at: its calls run alone, in their place.
    `sequential` makes the whole batch sequential that a call of this tool is in. None takes the mode of the agent,
    which is `parallel` unless it was told otherwise."""
    kind: ToolKind = ToolKind.OTHER
    """What its calls do. Calls of kind `other` and `fetch` are judged by the name of the tool alone."""
    target: ToolTarget | None = None
    """What its calls act on; None if no argument says so. Then they are judged by the name of the tool alone."""


def parameters_of(arguments: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a Struct, self-contained and without what a model does not need (titles, defaults of null)."""
    (reference,), components = msgspec.json.schema_components([arguments], ref_template="#/$defs/{name}")
    root = components.pop(reference["$ref"].rpartition("/")[2])
    schema = _tidy(root)
    if components:
        schema["$defs"] = {name: _tidy(component) for name, component in components.items()}
    return schema


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    tidy = {key: value for key, value in schema.items() if key not in ("title", "default") and value != []}
    if "anyOf" in tidy:
        kept = [option for option in tidy["anyOf"] if option != {"type": "null"}]
        if len(kept) == 1:
            del tidy["anyOf"]
            tidy = {**kept[0], **tidy}
    if "properties" in tidy:
        tidy["properties"] = {name: _tidy(value) for name, value in tidy["properties"].items()}
    if isinstance(tidy.get("items"), dict):
        tidy["items"] = _tidy(tidy["items"])
    return tidy
