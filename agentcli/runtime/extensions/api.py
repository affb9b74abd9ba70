"""ExtensionApi: what an extension, the built-in tools and the permissions add to a runtime.

```python
def register(api):
    api.add_tool(AgentTool(…))
    api.before_tool_call(check)         # may block a call; one that raises blocks it too
    api.add_tool_source(source)         # tools that come and go; see `runtime.tool_sources`
    api.add_command("stamp", stamp)     # /stamp arguments
    api.add_provider(Provider(name="echo", api="echo", needs_key=False), stream, models=[Model(…)])
    api.subscribe(listener)
    api.add_message_kind("weather", as_text)
```
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.abort import AbortSignal
from agentcli.agent.context import StreamFn
from agentcli.agent.convert import convert_to_llm
from agentcli.agent.errors import UsageError
from agentcli.agent.hooks import (
    AfterToolCall,
    AfterToolCallContext,
    AfterToolCallResult,
    BeforeToolCall,
    BeforeToolCallContext,
    BeforeToolCallResult,
)
from agentcli.agent.messages import AgentMessage, CustomMessage, Message
from agentcli.agent.models import Model, Provider
from agentcli.agent.streaming import resolved
from agentcli.agent.text import one_line
from agentcli.agent.tools import AgentTool

if TYPE_CHECKING:
    from agentcli.runtime.tool_sources import ToolSource

Handler = Callable[[str], "str | Awaitable[str | None] | None"]
"""A command: gets what stands after its name, returns the prompt to send, or None if it has done all there is to do."""

ConvertKind = Callable[[CustomMessage], Message | None]

Report = Callable[[str], Awaitable[None]]
"""Tells the person one line."""

Hook = TypeVar("Hook", BeforeToolCall, AfterToolCall)


GROUP = "agentcli.extensions"
"""The group of entry points with which an installed package says that it has extensions."""


class Command(Struct, frozen=True):
    name: str
    handler: Handler
    description: str
    argument_hint: str
    extension: str


class ExtensionApi:
    """Args:
    cwd: the working folder.
    """

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.extension = "agentcli"
        """Who adds right now."""
        self.tools: dict[str, AgentTool] = {}
        self.tool_sources: list[ToolSource] = []
        self.commands: dict[str, Command] = {}
        self.providers: dict[str, Provider] = {}
        self.models: dict[str, Model] = {}
        self.stream_fns: dict[str, StreamFn] = {}
        """By wire API."""
        self.listeners: list[tuple[str, Callable[[Any, AbortSignal], Awaitable[None] | None]]] = []
        self._before: list[BeforeToolCall] = []
        self._after: list[tuple[str, AfterToolCall]] = []
        self._kinds: dict[str, ConvertKind] = {}

    def add_tool(self, tool: AgentTool) -> None:
        """A tool that the model may call; one of a known name takes its place."""
        self.tools[tool.name] = tool

    def add_tool_source(self, source: "ToolSource") -> None:
        """A source of tools that come and go; it is started with the first prompt."""
        self.tool_sources.append(source)

    def add_command(self, name: str, handler: Handler, description: str = "", argument_hint: str = "") -> None:
        """`/name arguments`. Raises UsageError if the name is taken."""
        if name in self.commands:
            raise UsageError(f"there is a command /{name} of {self.commands[name].extension} already")
        self.commands[name] = Command(name, handler, description, argument_hint, self.extension)

    def before_tool_call(self, hook: BeforeToolCall) -> BeforeToolCall:
        """Ask `hook(context, signal)` before each call, in the order of adding; the first that blocks decides."""
        self._before.append(hook)
        return hook

    def after_tool_call(self, hook: AfterToolCall) -> AfterToolCall:
        """Let `hook(context, signal)` change each result, in the order of adding."""
        self._after.append((self.extension, hook))
        return hook

    def add_provider(self, provider: Provider, stream_fn: StreamFn, models: Sequence[Model] = ()) -> None:
        """A provider whose models `stream_fn` asks: all models of its wire API `provider.api`."""
        self.providers[provider.name] = provider
        self.stream_fns[provider.api] = stream_fn
        self.models.update({model.full_id: model for model in models})

    def subscribe(self, listener: Callable[[Any, AbortSignal], Awaitable[None] | None]) -> None:
        """Hear every event of the agent and of the runtime."""
        self.listeners.append((self.extension, listener))

    def add_message_kind(self, custom_type: str, convert: ConvertKind) -> None:
        """What the model reads for a `CustomMessage` of this type; None leaves it out."""
        self._kinds[custom_type] = convert

    @property
    def before_hook(self) -> BeforeToolCall | None:
        """All before-hooks as one; None if there are none."""
        return self._ask_before if self._before else None

    def after_hook(self, report: Report) -> AfterToolCall | None:
        """All after-hooks as one; None if there are none. One that raises is reported and changes nothing."""
        if not self._after:
            return None

        async def ask(context: AfterToolCallContext, signal: AbortSignal) -> AfterToolCallResult | None:
            patches: dict[str, Any] = {}
            for extension, hook in self._after:
                try:
                    patch = await resolved(hook(context, signal))
                except Exception as error:
                    await report(failure(extension, "after a call", error))
                    continue
                if patch is not None:
                    said = {
                        name: value for name in patch.__struct_fields__ if (value := getattr(patch, name)) is not None
                    }
                    patches |= said
                    context = replace(context, result=replace(context.result, **said))
            return AfterToolCallResult(**patches) if patches else None

        return ask

    @property
    def converts_messages(self) -> bool:
        return bool(self._kinds)

    def convert_to_llm(self, messages: list[AgentMessage]) -> list[Message]:
        """`agent.convert.convert_to_llm`, with the added kinds."""
        converted: list[Message] = []
        for message in messages:
            convert = self._kinds.get(message.custom_type) if isinstance(message, CustomMessage) else None
            if convert is None:
                converted += convert_to_llm([message])
            elif isinstance(message, CustomMessage) and (made := convert(message)) is not None:
                converted.append(made)
        return converted

    async def _ask_before(self, context: BeforeToolCallContext, signal: AbortSignal) -> BeforeToolCallResult | None:
        for hook in self._before:
            verdict = await resolved(hook(context, signal))
            if verdict is not None and verdict.block:
                return verdict
        return None


def failure(extension: str, where: str, error: BaseException) -> str:
    """A line about an extension that raised."""
    return one_line(f"the extension {extension} failed {where}: {type(error).__name__}: {error}", 500)
