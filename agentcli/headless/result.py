"""Result: what a one-shot run came to, as one record for programs. There is one whatever happens."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from agentcli.agent.errors import AgentcliError
from agentcli.agent.events import MessageEndEvent, TurnEndEvent
from agentcli.agent.messages import AssistantMessage, StopReason, Usage, text_of
from agentcli.config.masking import mask
from agentcli.headless.exit_codes import exit_code_of_error
from agentcli.runtime.events import usage_of
from agentcli.runtime.runtime import Runtime


class Tokens(Struct, frozen=True):
    """Tokens of every request of the run, failed ones and summaries included, as the servers count them."""

    input: int = 0
    """Neither read from a cache nor written to one."""
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0
    """The sum of the four."""


class Result(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    text: str = ""
    """The last answer, empty if there is none; with a schema, the JSON that fits it, or what does not."""
    data: Any | UnsetType = UNSET
    """With a schema: the answer's value. Left out if no answer fits."""
    session: str | None = None
    """The session's id, as `--session` takes it; null if it is not kept."""
    model: str | None = None
    """Who answered last: `provider/id`."""
    stop_reason: str = StopReason.ERROR
    """`done`, `length`, `error` or `aborted`, or the limit that ended the run: `max_turns`, `max_tokens`, `max_cost`,
    `timeout`."""
    usage: Tokens = Tokens()
    cost: float = 0.0
    """US dollars, as far as the prices are known."""
    turns: int = 0
    """Answers of the model; requests that failed are none."""
    files_changed: list[str] = []
    """What `edit` and `write` changed, once each, in order; relative to the working folder where inside of it."""
    error: str | None = None
    """What went wrong, as on stderr; null exactly if `exit_code` is 0."""
    error_kind: str | None = None
    """The kind of the error where it is known: `usage`, `credentials`, `rate_limit`, `overflow` …"""
    exit_code: int = 0


class UsageCounter:
    """A listener that counts what a run takes, and keeps its last answer."""

    def __init__(self) -> None:
        self.answer: AssistantMessage | None = None
        self.turns = 0
        self.usage: Usage = Usage()

    def __call__(self, event: object, signal: object) -> None:
        match event:
            case MessageEndEvent(message=AssistantMessage() as message):
                self.answer = message
            case TurnEndEvent(message=AssistantMessage(stop_reason=reason)) if reason != StopReason.ERROR:
                self.turns += 1
            case _:
                pass
        if (usage := usage_of(event)) is not None:
            self.usage += usage

    @property
    def tokens(self) -> Tokens:
        """The sums of all requests so far."""
        usage = self.usage
        counts = (usage.input, usage.output, usage.cache_read, usage.cache_write)
        return Tokens(*counts, total=sum(counts))


def result_of(runtime: Runtime, tally: UsageCounter, exit_code: int, problem: str | None) -> Result:
    """Args:
    tally: of the run.
    problem: what went wrong; None if nothing did.
    """
    answer = tally.answer
    ended = answer.stop_reason if answer is not None and not runtime.agent.signal.aborted else None
    return Result(
        text=text_of(answer.content) if answer is not None else "",
        session=runtime.session.id if runtime.is_kept else None,
        model=f"{answer.provider}/{answer.model}" if answer is not None else runtime.agent.state.model.full_id,
        stop_reason=runtime.reached_limit or ended or StopReason.ABORTED,
        usage=tally.tokens,
        cost=tally.usage.cost.total,
        turns=tally.turns,
        files_changed=runtime.files_changed,
        error=None if problem is None else mask(problem),
        error_kind=answer.error_kind if ended == StopReason.ERROR and answer is not None else None,
        exit_code=exit_code,
    )


def result_of_error(error: Exception) -> Result:
    """The result of a run that failed before the model was asked."""
    if isinstance(error, AgentcliError):
        return Result(error=mask(str(error)), error_kind=error.kind, exit_code=exit_code_of_error(error))
    return Result(error=mask(f"{type(error).__name__}: {error}"), exit_code=1)
