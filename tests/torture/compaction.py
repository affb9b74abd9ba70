"""Random conversations in small windows: every compaction ends and gains, and the model sees everything once at least.

The model is a function here: it counts the tokens of every request (up to twice as many as agentcli guesses), refuses
what is longer than its window as strict servers do, fails at random, and answers with calls and texts of random size.
"""

import asyncio
import random
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import BadRequestError, ContextOverflowError, OverloadedError, ProviderError
from agentcli.agent.messages import (
    AssistantMessage,
    ImageContent,
    Message,
    StopReason,
    TextContent,
    ToolResultMessage,
    Usage,
    text_of,
)
from agentcli.agent.models import Model
from agentcli.agent.partial import PartialMessage
from agentcli.agent.tools import AgentTool, AgentToolResult
from agentcli.config.settings import CompactionSettings, RetrySettings, Settings
from agentcli.runtime.events import CompactionEndEvent, NoticeEvent
from agentcli.runtime.prompt_runner import DOES_NOT_FIT
from agentcli.runtime.runtime import Runtime, RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice
from agentcli.sessions.compaction.plan import is_answer
from agentcli.sessions.compaction.token_estimate import estimate_all

SIZES = (8_192, 12_000, 16_384, 24_000, 32_768, 48_000, 65_536)
IMAGE = ImageContent("aGVsbG8=", "image/png")
_MARK = re.compile(r"\[\[(\w+)\]\]")
MOST_REQUESTS = 12
"""Without an answer in between, retries included: one may be refused three times, and each may be retried twice."""
MOST_SUMMARIES = 40
"""The same of requests for summaries: those of two compactions, in pieces, with retries."""


class FakeModel:
    """Args:
    chance: for everything that is left to chance.
    size: tokens of the window.
    factor: tokens for one that agentcli guesses.
    """

    def __init__(self, chance: random.Random, size: int, factor: float) -> None:
        self.chance = chance
        self.size = size
        self.factor = factor
        self.tells_usage = chance.random() < 0.8
        self.failures = chance.choice((0.0, 0.0, 0.1, 0.3))
        self.seen: set[str] = set()
        """The marks of what was in a request that was answered."""
        self.unanswered = 0
        """Requests since the last answer."""
        self.asked_for_summaries = 0
        self.refused = self.summaries = self.answers = self.paid = 0
        self.turns_left = 0
        self.problems: list[str] = []
        self.sizes: dict[str, int] = {}
        """Characters of each result, by its mark."""

    def tokens(self, context: Context) -> int:
        fixed = len(context.system_prompt) + sum(
            len(tool.description) + len(msgspec.json.encode(tool.parameters)) for tool in context.tools
        )
        return int((fixed / 4 + estimate_all(context.messages)) * self.factor)

    async def __call__(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        tokens = self.tokens(context)
        is_summary = not context.tools
        self._count(is_summary)
        partial = PartialMessage(model)
        if tokens + 16 > self.size:
            self.refused += 1
            raise ContextOverflowError(f"{tokens} tokens are more than {self.size}")
        yield partial.start()
        failure = self._failure(is_summary)
        text, calls = self._summary() if is_summary else self._answer()
        output = min(max(len(text) // 4, 8), self.size - tokens)
        if self.tells_usage:
            total = tokens + output
            partial.usage = Usage(input=tokens, output=output, total_tokens=total)
            self.paid += total
        if failure is not None:
            raise failure
        for event in partial.text(text[: output * 4]) if text else []:
            yield event
        for name, arguments in calls:
            self.sizes[arguments["mark"]] = arguments["size"]
            started = partial.toolcall_start(arguments["mark"], name)
            for event in [*started, *partial.toolcall_arguments(started[-1], arguments)]:
                yield event
        if is_summary:
            self.summaries += 1
        else:
            self.answers += 1
            self.unanswered = self.asked_for_summaries = 0
            self._see(context.messages)
        for event in partial.done(StopReason.DONE):
            yield event

    def _count(self, is_summary: bool) -> None:
        self.unanswered += not is_summary
        self.asked_for_summaries += is_summary
        if self.unanswered > MOST_REQUESTS or self.asked_for_summaries > MOST_SUMMARIES:
            self.problems.append(f"{self.unanswered} requests, {self.asked_for_summaries} for summaries, and no answer")
            raise BadRequestError("too many requests")

    def _failure(self, is_summary: bool) -> ProviderError | None:
        roll = self.chance.random()
        if is_summary:
            return OverloadedError("busy") if roll < self.failures else None
        if roll < self.failures / 4:
            return ContextOverflowError("at random")
        return OverloadedError("busy") if roll < self.failures / 2 else None

    def _summary(self) -> tuple[str, list[Any]]:
        roll = self.chance.random()
        if roll < self.failures:
            return "", []
        if roll < self.failures * 1.5:
            return "It went on for long. " * 2_000, []
        return "They worked. " * self.chance.choice((3, 30, 100)), []

    def _answer(self) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
        if self.turns_left <= 0:
            return "Done. " * self.chance.choice((1, 10, 400)), []
        self.turns_left -= 1
        largest = self.chance.choice((200, 8_000, 42_000, 200_000))
        count = self.chance.choice((1, 1, 2, 3, 8))
        calls = [("fetch", {"mark": self.mark("r"), "size": self.chance.randint(50, largest)}) for _ in range(count)]
        return self.chance.choice(("", "Looking. ", "Thinking about it. " * 100)), calls

    def mark(self, kind: str) -> str:
        return f"{kind}{self.chance.getrandbits(48):012x}"

    def _see(self, messages: list[Message]) -> None:
        for message in messages:
            if isinstance(message, ToolResultMessage):
                text = text_of(message.content)
                mark = message.tool_call_id
                cut = "characters left out: the result did not fit into the model's window; ask for a part" in text
                if not cut and len(text) != self.sizes[mark] + len(mark) + 4:
                    self.problems.append(f"a result is neither whole nor says that it is cut: {text[:200]}")
                self.seen.add(mark)
            elif not isinstance(message, AssistantMessage):
                self.seen.update(_MARK.findall(text_of(message.content)))


def make_tool() -> AgentTool:
    async def fetch(id: str, params: Any, signal: Any, on_update: Any, context: Any) -> AgentToolResult:
        text = ("some text\n" * (params["size"] // 10 + 1))[: params["size"]]
        return AgentToolResult(content=[TextContent(f"[[{params['mark']}]]{text}")])

    schema = {"type": "object", "properties": {"mark": {"type": "string"}, "size": {"type": "integer"}}}
    return AgentTool(name="fetch", description="Fetch a text of some size.", parameters=schema, execute=fetch)


class UsageCounter(msgspec.Struct, frozen=True):
    answers: int
    compactions: int
    refused: int
    told: int
    """How often the person was told that nothing helps."""


def conversation(folder: Path, seed: int) -> UsageCounter:
    """One random conversation. Raises AssertionError with the seed in it."""
    try:
        return asyncio.run(_converse(folder, random.Random(seed)))
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error


async def _converse(folder: Path, chance: random.Random) -> UsageCounter:
    size = chance.choice(SIZES)
    fake = FakeModel(chance, size, chance.choice((0.8, 1.0, 1.0, 1.3, 2.0)))
    settings = Settings(
        retry=RetrySettings(max_retries=2, base_delay=0.0),
        compaction=CompactionSettings(enabled=chance.random() < 0.9),
    )
    choice = SessionChoice(cwd=folder, in_memory=True)
    runtime = Runtime.create(RuntimeOptions(settings=settings, session=choice, stream_fn=fake))
    state = runtime.agent.state
    state.model = replace(state.model, context_window=size if chance.random() < 0.8 else size * 4)
    state.tools.append(make_tool())
    counted: list[Any] = []
    runtime.subscribe(lambda event, signal: counted.append(event))
    prompts: list[str] = []
    try:
        for number in range(chance.randint(2, 6)):
            fake.turns_left = chance.choice((0, 1, 3, 8))
            mark = fake.mark("p")
            prompts.append(mark)
            text = f"[[{mark}]] " + "please do it " * chance.choice((1, 1, 50, 1_000, 8_000 if number else 1))
            if chance.random() < 0.2:
                fake.turns_left += 1
                steered = fake.mark("s")
                runtime.steer(f"[[{steered}]] and that")
                prompts.append(steered)
            fake.unanswered = fake.asked_for_summaries = 0
            await runtime.prompt(text, [IMAGE] * chance.choice((0, 0, 0, 2)))
            _check(runtime, fake, prompts)
            assert not fake.problems, fake.problems
    finally:
        await runtime.close()
    ends = [event for event in counted if isinstance(event, CompactionEndEvent)]
    for end in ends:
        # What was counted before is guessed after.
        gains = end.tokens_after < end.tokens_before * 1.1 + 300
        assert end.summary is None or end.reason != "threshold" or gains, f"{end.tokens_before} → {end.tokens_after}"
    stats = runtime.session.get_stats()
    assert stats.total_tokens == fake.paid, f"{fake.paid} tokens were paid for, {stats.total_tokens} are counted"
    told = sum(isinstance(event, NoticeEvent) and event.text == DOES_NOT_FIT for event in counted)
    made = sum(end.summary is not None for end in ends)
    return UsageCounter(fake.answers, made, fake.refused, told)


def _check(runtime: Runtime, fake: FakeModel, prompts: list[str]) -> None:
    """Nothing has left the context that the model did not answer."""
    said = msgspec.json.encode(list(runtime.agent.state.messages)).decode()
    results = [
        entry.message.tool_call_id
        for entry in runtime.session.find_entries("message")
        if isinstance(entry.message, ToolResultMessage) and entry.message.tool_name == "fetch"
    ]
    for mark in (*prompts, *results):
        assert mark in fake.seen or mark in said, f"{mark} has gone, and was never seen"
    if is_answer(runtime.agent.state.messages[-1]):
        missing = [mark for mark in prompts if mark not in fake.seen]
        assert not missing, f"{missing} were answered unseen"


def conversations(folder: Path, seeds: range) -> None:
    """Random conversations, one for each seed, in an empty folder. `AGENTCLI_HOME` is not touched."""
    (folder / "work").mkdir()
    tallies = [conversation(folder / "work", seed) for seed in seeds]
    print(
        f"compaction: {len(tallies)} conversations from seed {seeds.start} on, {sum(tally.answers for tally in tallies)} answers, "
        f"{sum(tally.compactions for tally in tallies)} compactions, {sum(tally.refused for tally in tallies)} requests refused, "
        f"{sum(tally.told for tally in tallies)} times nothing helped; nothing was lost unseen",
        flush=True,
    )
