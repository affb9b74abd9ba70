"""RPC commands: the types of the lines that a program sends. Nothing but what they say is taken; see `rpc_handlers`.

`type` is the command's name, `id` any string or number, which the response repeats. Entries and sessions are named by
their id or by a beginning or end that only they have. The docstrings are the documentation that `--schema` publishes.
"""

import json
import re
from math import isfinite
from typing import Literal, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agentcli.agent.messages import ImageContent
from agentcli.agent.models import ThinkingLevel
from agentcli.agent.queues import QueueMode
from agentcli.agent.surrogates import data_without_surrogates
from agentcli.config.settings import PermissionMode


def _tag(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


class Command(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type", tag=_tag):
    id: str | int | float | UnsetType = UNSET


class Prompt(Command, frozen=True):
    """Work on a message. The response comes when it is known what happens to it; the events tell the rest.

    While something is worked on, `streaming_behavior` says what becomes of it; without one it is refused. A text may
    call a template, a skill or a command of an extension: `/name arguments`.
    """

    message: str
    images: list[ImageContent] = []
    streaming_behavior: Literal["steer", "follow_up"] | None = None


class Steer(Command, frozen=True):
    """Queue a message for the run's next request, after the tools that are running; without a run, the next one's."""

    message: str
    images: list[ImageContent] = []


class FollowUp(Command, frozen=True):
    """Queue a message for when the run would end; without a run, the next one."""

    message: str
    images: list[ImageContent] = []


class Abort(Command, frozen=True):
    """Stop the run, a retry's wait, a compaction or a branch summary. What is queued stays queued.

    The response comes at once; until `agent_settled` says that nothing goes on any more, a prompt is refused.
    """


class GetQueue(Command, frozen=True):
    """What waits, next first."""


class EditQueued(Command, frozen=True):
    """Say something else in a message that waits. Without `images` it keeps those it has."""

    queue_id: str
    message: str
    images: list[ImageContent] | None = None


class MoveQueued(Command, frozen=True):
    """Move a message in its queue: 0 is next, past the end is last."""

    queue_id: str
    position: int


class RemoveQueued(Command, frozen=True):
    """Take a message back that waits."""

    queue_id: str


class ClearQueue(Command, frozen=True):
    """Take everything back that waits."""


class GetState(Command, frozen=True):
    """What holds now: model, session, what is going on."""


class GetMessages(Command, frozen=True):
    """The conversation as it goes to the model."""


class GetLastAssistantText(Command, frozen=True):
    """The text of the last answer."""


class SetModel(Command, frozen=True):
    """Let another model answer, from the next request on: exactly the one of this provider and id."""

    provider: str
    model_id: str
    thinking_level: ThinkingLevel | None = None


class GetAvailableModels(Command, frozen=True):
    """The models, those first that could answer now."""


class SetThinkingLevel(Command, frozen=True):
    """Let the model think more or less, from the next request on: the nearest level that it has."""

    level: ThinkingLevel


class GetAvailableThinkingLevels(Command, frozen=True):
    """The levels that the model has, least first."""


class SetSteeringMode(Command, frozen=True):
    """Whether one steering message is delivered at a time, or all that wait."""

    mode: QueueMode


class SetFollowUpMode(Command, frozen=True):
    """Whether one follow-up is delivered at a time, or all that wait."""

    mode: QueueMode


class SetPermissionMode(Command, frozen=True):
    """What happens from now on to calls that no rule speaks of."""

    mode: PermissionMode


class AnswerPermission(Command, frozen=True):
    """Answer a `permission_request`. `session` and `always` add its suggested rules, for now or for good."""

    request_id: str
    verdict: Literal["allow", "deny"]
    remember: Literal["once", "session", "always"] = "once"
    reason: str | None = None
    """What the model is told when the call is denied."""


class Compact(Command, frozen=True):
    """Sum up the older part of the conversation now. A run that is going on is aborted first."""

    custom_instructions: str = ""
    """What the summary shall attend to."""


class Bash(Command, frozen=True):
    """Run a command of the person's own. The model reads of it with the next prompt, unless it is excluded."""

    command: str
    exclude_from_context: bool = False


class AbortBash(Command, frozen=True):
    """End the person's command and all it has started."""


class GetSessionStats(Command, frozen=True):
    """What the session took, and how full the model's window is."""


class GetCommands(Command, frozen=True):
    """What can be typed after a slash: templates, skills, commands of extensions."""


class ListSessions(Command, frozen=True):
    """This folder's sessions, last used first; or all, or those that hold words, "a phrase" or re:PATTERN."""

    all: bool = False
    search: str | None = None


class NewSession(Command, frozen=True):
    """Go on with a new session in the same folder. A run that is going on is aborted first, here and below."""


class SwitchSession(Command, frozen=True):
    """Go on with another session, in its own folder and with its own model."""

    session_path: str
    """A path, an id, or a part of one."""


class Fork(Command, frozen=True):
    """Go on with a new session that ends before a message of the user, or at any entry."""

    entry_id: str
    position: Literal["before", "at"] = "before"


class Clone(Command, frozen=True):
    """Go on with a new session that has the whole path to where the conversation is."""


class GetEntries(Command, frozen=True):
    """The session's entries on every branch, in order; or those after one."""

    since: str | None = None


class GetTree(Command, frozen=True):
    """The session's tree as a list, parents first, a branch at a time."""

    everything: bool = False
    """Also labels, names and moves, which are no places in the conversation."""


class GetForkMessages(Command, frozen=True):
    """The messages of the user that a fork may begin before."""


class GoTo(Command, frozen=True):
    """Go on from another entry; before it, if it is a message of the user. Nothing is lost."""

    entry_id: str | None
    """null is the beginning."""
    summarize: bool = False
    """Tell the new branch what happened on the one that is left."""
    custom_instructions: str = ""


class Label(Command, frozen=True):
    """Mark an entry; null takes the mark away."""

    entry_id: str
    label: str | None


class SetSessionName(Command, frozen=True):
    """Name the session; null takes the name away."""

    name: str | None


class ExportHtml(Command, frozen=True):
    """Write the session as a page, for the eyes of its owner only (mode 0600)."""

    output_path: str | None = None
    """Relative to the working folder; without one, a name with the session's id in that folder."""


AnyCommand = (
    Prompt | Steer | FollowUp | Abort | GetQueue | EditQueued | MoveQueued | RemoveQueued | ClearQueue | GetState
    | GetMessages | GetLastAssistantText | SetModel | GetAvailableModels | SetThinkingLevel
    | GetAvailableThinkingLevels | SetSteeringMode | SetFollowUpMode | SetPermissionMode | AnswerPermission | Compact
    | Bash | AbortBash | GetSessionStats | GetCommands | ListSessions | NewSession | SwitchSession | Fork | Clone
    | GetEntries | GetTree | GetForkMessages | GoTo | Label | SetSessionName | ExportHtml
)  # fmt: skip

_decoder = msgspec.json.Decoder(AnyCommand)
_names = [type.__struct_config__.tag for type in get_args(AnyCommand)]


class BadCommandError(Exception):
    """A line that is no command.

    Args:
        command: the name it gives; `parse` if it gives none.
        id: what the response repeats.
        problem: what is wrong, and where.
    """

    def __init__(self, problem: str, command: str = "parse", id: str | float | UnsetType = UNSET) -> None:
        super().__init__(problem)
        self.command = command
        self.id = id
        self.problem = problem


def read_command(line: bytes) -> AnyCommand:
    """The command of a line. Half characters in its texts become U+FFFD. Raises BadCommandError."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        record = _record(line)
    if not isinstance(record, dict):
        raise BadCommandError('a command is a JSON object, as in {"type": "get_state"}')
    id, name = record.get("id", UNSET), record.get("type")
    if _is_id(id):
        try:
            return msgspec.convert(record, AnyCommand)
        except msgspec.ValidationError as error:
            problem = str(error)
    else:
        id, problem = UNSET, "`id` is a string or a number"
    if not isinstance(name, str):
        raise BadCommandError(problem, id=id)
    if name not in _names:
        problem = f"there is no command `{name}`{_nearest(name)}"
    raise BadCommandError(problem, name, id)


def _record(line: bytes) -> object:
    """What stands in a line that is no command as it is, perhaps because of half characters written as escapes."""
    try:
        return data_without_surrogates(json.loads(line.decode("utf-8-sig"), parse_constant=_refuse))
    except UnicodeDecodeError as error:
        raise BadCommandError(f"the line is not UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        raise BadCommandError(f"the line is no JSON: {error.msg} (character {error.pos + 1})") from None
    except (ValueError, RecursionError) as error:
        raise BadCommandError(f"the line cannot be read: {error}") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number in JSON")


def _is_id(id: object) -> bool:
    """Whether a response can repeat it; what Python makes of 1e999 is no number in JSON."""
    if isinstance(id, float):
        return isfinite(id)
    return isinstance(id, str | int | UnsetType) and not isinstance(id, bool)


def _nearest(name: str) -> str:
    from difflib import get_close_matches  # 5 ms, for those who mistype

    found = get_close_matches(name, [str(known) for known in _names], 1, 0.5)
    return f"; did you mean `{found[0]}`?" if found else f"; there are {', '.join(sorted(map(str, _names)))}"
