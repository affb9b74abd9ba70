"""Answer: the items of one message of the model, streamed or complete."""

from typing import assert_never

from agentcli.agent.assistant_events import (
    AssistantMessageEvent,
    DoneEvent,
    ErrorEvent,
    StartEvent,
    TextDeltaEvent,
    TextEndEvent,
    TextStartEvent,
    ThinkingDeltaEvent,
    ThinkingEndEvent,
    ThinkingStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agentcli.agent.messages import AssistantMessage, StopReason, TextContent, ThinkingContent, ToolCall
from agentcli.transcript.calls import Calls
from agentcli.transcript.item_list import ItemList
from agentcli.transcript.items import TextItem, ThinkingItem, ToolItem


class Answer:
    """The message that streams, block by block.

    Args:
        items: where text and thinking are added.
        calls: where calls are added.
    """

    def __init__(self, items: ItemList, calls: Calls) -> None:
        self._items = items
        self._calls = calls
        self._blocks: dict[int, TextItem | ThinkingItem | ToolItem] = {}
        """By content index."""

    def clear(self) -> None:
        """Forget the message; another one may follow."""
        self._blocks = {}

    def apply(self, event: AssistantMessageEvent) -> str:
        """Update the items by an event of the stream.

        Returns:
            What the model begins to do, in a word or two; empty if it goes on.
        """
        match event:
            case TextDeltaEvent(index, delta) | ThinkingDeltaEvent(index, delta):
                item = self._blocks.get(index)
                if isinstance(item, TextItem | ThinkingItem):
                    self._items.append_text(item, delta)
            case ToolCallDeltaEvent(index, delta):
                item = self._blocks.get(index)
                if isinstance(item, ToolItem):
                    item.write(delta)
                    self._items.changed(item)
            case TextStartEvent(index):
                self._blocks[index] = self._items.append(TextItem())
                return "writing"
            case ThinkingStartEvent(index):
                self._blocks[index] = self._items.append(ThinkingItem())
                return "thinking"
            case ToolCallStartEvent(index, id, name):
                self._add_call(index, ToolItem(name, id=id))
                return f"writing a call of {name}"
            case TextEndEvent(index) | ThinkingEndEvent(index):
                item = self._blocks.get(index)
                if isinstance(item, TextItem | ThinkingItem):
                    item.finish()
                    self._items.changed(item)
            case ToolCallEndEvent(index, call):
                item = self._blocks.get(index)
                if isinstance(item, ToolItem):
                    item.set_arguments(call.arguments)
                    self._items.changed(item)
            case StartEvent() | DoneEvent() | ErrorEvent():
                pass
            case _:
                assert_never(event)
        return ""

    def complete(self, message: AssistantMessage) -> None:
        """Add what the message contains that no event announced, and end what is still open.

        Args:
            message: the whole message; without events before it, all of it is added.
        """
        has_failed = message.stop_reason in (StopReason.ERROR, StopReason.ABORTED)
        for index, block in enumerate(message.content):
            item = self._blocks.get(index)
            match block:
                case TextContent():
                    if item is None and block.text:
                        self._items.append(TextItem(block.text))
                case ThinkingContent():
                    if item is None:
                        self._items.append(ThinkingItem(block.thinking, block.redacted))
                    elif isinstance(item, ThinkingItem) and block.redacted:
                        item.redacted = True
                        self._items.changed(item)
                case ToolCall():
                    if item is None:
                        item = ToolItem(block.name, id=block.id)
                        item.set_arguments(block.arguments)
                        self._add_call(index, item)
                    elif isinstance(item, ToolItem) and has_failed and not item.is_over:
                        item.set_arguments(block.arguments)
                        item.finish("", None, is_error=True)
                        self._items.changed(item)
                case _:
                    assert_never(block)
        self.clear()

    def _add_call(self, index: int, item: ToolItem) -> None:
        self._blocks[index] = item
        self._calls.add(item)
