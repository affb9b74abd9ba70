"""Calls: the tool calls of a transcript and the shell commands of the user, from their start to their result."""

from collections.abc import Sequence

from agentcli.agent.events import ToolExecutionEndEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent
from agentcli.agent.messages import ImageContent, ToolResultMessage, UserContent, text_of
from agentcli.runtime.events import BashExecutionEndEvent, BashExecutionStartEvent, BashExecutionUpdateEvent
from agentcli.runtime.repair import INTERRUPTED_TEXT
from agentcli.transcript.item_list import ItemList
from agentcli.transcript.items import CommandItem, ToolItem

CallEvent = ToolExecutionStartEvent | ToolExecutionUpdateEvent | ToolExecutionEndEvent
CommandEvent = BashExecutionStartEvent | BashExecutionUpdateEvent | BashExecutionEndEvent


class Calls:
    """Finds the item of each call and command.

    Args:
        items: where they are added.
    """

    def __init__(self, items: ItemList) -> None:
        self._items = items
        self._open: dict[str, ToolItem] = {}
        """The calls without a result in the conversation, by id."""
        self._running: dict[ToolItem, None] = {}
        """Running calls, in order."""
        self._commands: dict[str, CommandItem] = {}
        """Running commands, by id."""

    @property
    def is_running(self) -> bool:
        """Whether a call or a command runs."""
        return bool(self._running) or bool(self._commands)

    @property
    def running_names(self) -> list[str]:
        """The tools that run, once each."""
        return list(dict.fromkeys(item.name for item in self._running))

    @property
    def open_items(self) -> list[ToolItem]:
        """The calls without a result in the conversation, in order. They may have ended."""
        return list(self._open.values())

    def clear(self) -> None:
        """Forget the calls; what the user runs stays."""
        self._open.clear()
        self._running.clear()

    def forget_commands(self) -> None:
        """Forget what the user runs."""
        self._commands.clear()

    def add_commands(self) -> None:
        """Add the items of running commands, after all others were removed."""
        for item in self._commands.values():
            self._items.append(item)

    def add(self, item: ToolItem) -> None:
        """Add a call that waits for its result."""
        self._open[item.id] = item
        self._items.append(item)

    def tick(self, now: float) -> None:
        """Update the running times. `now` is of the monotonic clock, in seconds."""
        for item in (*self._running, *self._commands.values()):
            item.tick(now)
            self._items.changed(item)

    def apply(self, event: CallEvent, now: float) -> None:
        """Update a call by an event; one that its message did not announce is added."""
        if event.tool_call_id not in self._open:
            self.add(ToolItem(event.tool_name, id=event.tool_call_id))
        item = self._open[event.tool_call_id]
        match event:
            case ToolExecutionStartEvent():
                item.set_arguments(event.args)
                item.start(now)
                self._running[item] = None
            case ToolExecutionUpdateEvent():
                item.update(result_text(event.partial_result.content), event.partial_result.details)
            case ToolExecutionEndEvent():
                item.finish(result_text(event.result.content), event.result.details, event.is_error, now)
                self._running.pop(item, None)
        self._items.changed(item)

    def mark_asking(self, call_id: str, *, is_open: bool) -> None:
        """Note that a call waits for the user's permission, or has got an answer."""
        if (item := self._open.get(call_id)) is not None:
            item.ask(is_open)
            self._items.changed(item)

    def end(self, message: ToolResultMessage, now: float | None) -> None:
        """Set the result that the conversation has, unless the call ran here: then it is known already."""
        item = self._open.pop(message.tool_call_id, None)
        if item is None:
            item = self._items.append(ToolItem(message.tool_name, id=message.tool_call_id))
        if not item.is_over or item.started is None:
            item.finish(result_text(message.content), message.details, message.is_error, now)
            self._running.pop(item, None)
            self._items.changed(item)

    def end_open(self) -> None:
        """Note that calls without a result never got one: agentcli ended before them."""
        for item in self._open.values():
            item.finish(INTERRUPTED_TEXT, None, is_error=True)
            self._items.changed(item)
        self._open.clear()

    def apply_command(self, event: CommandEvent, now: float) -> None:
        """Update a shell command of the user by an event."""
        match event:
            case BashExecutionStartEvent(id, command, exclude_from_context):
                self._commands[id] = item = CommandItem(command, exclude_from_context)
                item.start(now)
                self._items.append(item)
            case BashExecutionUpdateEvent(id, output):
                if (item := self._commands.get(id)) is not None:
                    item.update(output, None)
                    self._items.changed(item)
            case BashExecutionEndEvent(id, message):
                if (item := self._commands.pop(id, None)) is not None:
                    item.finish_with(message, now)
                    self._items.changed(item)


def result_text(content: str | Sequence[UserContent]) -> str:
    """The text of a result, and a line for each image that came with it."""
    text = text_of(content)
    if isinstance(content, str):
        return text
    images = [_image_line(block) for block in content if isinstance(block, ImageContent)]
    return "\n".join([*([text] if text else []), *images]) if images else text


def _image_line(image: ImageContent) -> str:
    # Four characters of base64 are three bytes.
    return f"[image: {image.mime_type}, {max(len(image.data) * 3 // 4 // 1000, 1):,} kB]"
