"""PermissionGate: the before-hook that lets a call run, asks the person about it, or blocks it and says why."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import AgentcliError
from agentcli.agent.hooks import BeforeToolCallContext, BeforeToolCallResult
from agentcli.agent.messages import AssistantMessage
from agentcli.agent.threads import to_thread
from agentcli.agent.tools import PATH_KINDS, AgentTool
from agentcli.runtime.events import NoticeEvent, PermissionEndEvent, PermissionRequestEvent
from agentcli.runtime.permissions.permissions import Judgement, Permissions
from agentcli.runtime.permissions.rules import Verdict


class Remember(StrEnum):
    """How long an answer holds."""

    ONCE = "once"
    SESSION = "session"
    """Until agentcli ends."""
    ALWAYS = "always"
    """The rule goes into the person's `config.toml`."""


class Answer(Struct, frozen=True):
    allowed: bool
    remember: Remember
    reason: str | None


class PermissionGate:
    """Args:
    permissions: who judges.
    emit: tells the listeners an event.
    can_ask: whether somebody listens and answers; without, what would be asked is blocked.
    save_rule: writes a rule where it is kept: `(verdict, rule)`.
    remember: hears of every rule that holds for the rest of the session, the kept ones too.
    judged: gets, by the id of a call of a file tool, the file that was judged: the only one it may act on. It holds
        those of the last message.
    """

    def __init__(
        self,
        permissions: Permissions,
        emit: Callable[[Any], Awaitable[None]],
        *,
        can_ask: bool,
        save_rule: Callable[[str, str], None],
        remember: Callable[[Verdict, str], None],
        judged: dict[str, Path | None],
    ) -> None:
        self.permissions = permissions
        self._emit = emit
        self._can_ask = can_ask
        self._save_rule = save_rule
        self._remember = remember
        self._judged = judged
        self._message: AssistantMessage | None = None
        self._numbers = itertools.count(1)
        self._open: dict[str, asyncio.Future[Answer]] = {}

    async def __call__(self, context: BeforeToolCallContext, signal: AbortSignal) -> BeforeToolCallResult | None:
        tool = next(tool for tool in context.context.tools if tool.name == context.tool_call.name)
        judgement = self.permissions.judge(tool, context.args)
        self._note(context, tool, judgement)
        match judgement.verdict:
            case Verdict.ALLOW:
                return None
            case Verdict.DENY:
                return _blocked(f"Not allowed: {judgement.about} ({judgement.because}). Do not try to get around it.")
            case Verdict.ASK if not self._can_ask:
                return _blocked(_unanswerable(judgement))
            case _:
                return await self._ask(context, judgement)

    def _note(self, context: BeforeToolCallContext, tool: AgentTool, judgement: Judgement) -> None:
        if context.assistant_message is not self._message:
            self._message = context.assistant_message
            self._judged.clear()
        if tool.kind in PATH_KINDS and tool.target is not None:
            self._judged[context.tool_call.id] = judgement.place

    def answer(self, id: str, *, allowed: bool, remember: Remember, reason: str | None) -> bool:
        """Returns whether the request was still open."""
        waiting = self._open.get(id)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(Answer(allowed, remember, reason))
        return True

    async def allows_host(self, host: str, port: int) -> bool:
        """Whether a command in the sandbox may reach a host that its settings do not name; the person is asked."""
        judgement = self.permissions.judge_host(host)
        if judgement.verdict != Verdict.ASK or not self._can_ask:
            return judgement.verdict == Verdict.ALLOW
        id = f"p{next(self._numbers)}"
        request = PermissionRequestEvent(
            id=id,
            tool_call_id="",
            tool_name="network",
            arguments={"host": host, "port": port},
            about=f"network: a command in the sandbox wants to reach {host}:{port}",
            because="the network of the sandbox does not name it",
            suggested_rules=judgement.rules,
        )
        return (await self._answer_to(request, judgement)).allowed

    async def _ask(self, context: BeforeToolCallContext, judgement: Judgement) -> BeforeToolCallResult | None:
        request = _request(f"p{next(self._numbers)}", context, judgement)
        answer = await self._answer_to(request, judgement)
        if answer.allowed:
            return None
        said = f": {answer.reason}" if answer.reason else "."
        return _blocked(f"The person did not allow this call{said}")

    async def _answer_to(self, request: PermissionRequestEvent, judgement: Judgement) -> Answer:
        id = request.id
        waiting: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[id] = waiting
        answer = Answer(False, Remember.ONCE, None)
        try:
            await self._emit(request)
            answer = await waiting
        finally:
            del self._open[id]
            await self._emit(PermissionEndEvent(id=id, allowed=answer.allowed, remember=answer.remember))
        await self._keep(answer, judgement)
        return answer

    async def _keep(self, answer: Answer, judgement: Judgement) -> None:
        """Remember an answer as rules. What cannot be written holds for this session, and the person is told.

        The rules for paths speak of folders: good to allow, too broad to deny.
        """
        if answer.remember == Remember.ONCE:
            return
        verdict = Verdict.ALLOW if answer.allowed else Verdict.DENY
        rules = [rule for rule in judgement.rules if answer.allowed or rule.startswith(("bash(", "network("))]
        for rule in rules:
            self.permissions.add(verdict, rule)
            self._remember(verdict, rule)
            if answer.remember == Remember.ALWAYS:
                try:
                    await to_thread(self._save_rule, verdict, rule)
                except AgentcliError as error:
                    await self._emit(NoticeEvent(f"the rule {rule} holds for this session only: {error}"))


def _request(id: str, context: BeforeToolCallContext, judgement: Judgement) -> PermissionRequestEvent:
    return PermissionRequestEvent(
        id=id,
        tool_call_id=context.tool_call.id,
        tool_name=context.tool_call.name,
        arguments=context.args,
        about=judgement.about,
        because=judgement.because,
        suggested_rules=judgement.rules,
    )


def _unanswerable(judgement: Judgement) -> str:
    would = f" Rules that would allow it: {', '.join(judgement.rules)}." if judgement.rules else ""
    return (
        f"Not allowed: nobody is here to be asked about {judgement.about} ({judgement.because}).{would} "
        "Go on without it, and tell the person what you could not do."
    )


def _blocked(reason: str) -> BeforeToolCallResult:
    return BeforeToolCallResult(block=True, reason=reason)
