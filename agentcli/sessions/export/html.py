"""HTML export: a session as one page that needs no network, its tree beside its transcript.

The page does not trust the transcript: jinja2 escapes everything, the content security policy allows no script and no
style but the page's own (by their hashes), and the only URLs from the transcript are images of a few types, as data.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from agentcli.agent.convert import convert_message
from agentcli.agent.messages import (
    AgentMessage,
    AssistantContent,
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolResultMessage,
    UserContent,
    UserMessage,
)
from agentcli.agent.text import one_line, printable
from agentcli.sessions.entries import Entry, MessageEntry, type_of
from agentcli.sessions.message_text import call_arguments
from agentcli.sessions.session import Session
from agentcli.sessions.tree import tree_lines

TEMPLATES = Path(__file__).with_name("templates")
_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
_FOLD_LINES = 12
"""Results with more lines are folded."""


def to_html(session: Session) -> str:
    """Every branch of a session; the active one is shown first."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = (TEMPLATES / "session.css").read_text("utf-8")
    script = (TEMPLATES / "session.js").read_text("utf-8")
    page = environment.get_template("session.html.j2").render(
        title=one_line(session.name or session.id),
        facts=[one_line(fact) for fact in _facts(session)],
        lines=list(_lines(session)),
        leaf=session.leaf_id or "",
        style=style,
        script=script,
        policy=_policy(style, script),
    )
    return page.encode("utf-8", "replace").decode()


def _facts(session: Session) -> Iterator[str]:
    yield session.header.timestamp
    yield session.header.cwd
    yield session.id
    stats = session.get_stats()
    yield f"{stats.message_count} messages"
    yield f"{stats.total_tokens:,} tokens"
    yield f"${stats.cost_total:.4f}"
    yield from stats.models


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    """A source hash of a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _lines(session: Session) -> Iterator[dict[str, Any]]:
    """The template's data for each entry: its line in the tree, and its part of the transcript."""
    lines = list(tree_lines(session.storage))
    entries = session.storage.get_some([line.head.id for line in lines])
    for number, (line, entry) in enumerate(zip(lines, entries, strict=True)):
        yield {
            "id": entry.id,
            "anchor": f"e-{entry.id}" if re.fullmatch(r"[\w.~-]+", entry.id) else f"n-{number}",
            "parent": line.parent_id or "",
            "depth": min(line.depth, 40),
            "kind": _kind(entry),
            "title": re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", _kind(entry)).lower(),
            "summary": entry.describe(),
            "on_path": line.on_path,
            "is_leaf": line.is_leaf,
            "label": one_line(line.label or ""),
            "time": one_line(entry.timestamp),
            "blocks": list(_blocks(entry)),
        }


def _kind(entry: Entry) -> str:
    return entry.message.role if isinstance(entry, MessageEntry) else type_of(entry)


def _blocks(entry: Entry) -> Iterator[dict[str, Any]]:
    shown = False
    for message in entry.to_messages():
        for block in _message(message):
            shown = True
            yield block
    if not shown:
        yield {"is": "note", "text": entry.describe()}


def _message(message: AgentMessage) -> Iterator[dict[str, Any]]:
    match message:
        case AssistantMessage():
            for block in message.content:
                yield from _content(block)
            if message.error_message:
                yield {"is": "error", "text": printable(message.error_message)}
        case ToolResultMessage():
            yield from _result(message)
        case _:
            converted = convert_message(message)
            if isinstance(converted, UserMessage):
                for block in converted.content:
                    yield from _content(block)


def _content(block: UserContent | AssistantContent) -> Iterator[dict[str, Any]]:
    match block:
        case TextContent():
            if block.text.strip():
                yield {"is": "text", "text": printable(block.text)}
        case ThinkingContent():
            if block.thinking.strip():
                yield {"is": "thinking", "text": printable(block.thinking)}
        case ImageContent():
            yield _image(block)
        case _:
            arguments = block.partial_json or msgspec.json.format(msgspec.json.encode(block.arguments)).decode()
            short = call_arguments(block.arguments) if block.partial_json is None else one_line(block.partial_json)
            yield {"is": "call", "name": one_line(block.name), "short": short, "text": printable(arguments)}


def _result(message: ToolResultMessage) -> Iterator[dict[str, Any]]:
    details = message.details if isinstance(message.details, dict) else {}
    if isinstance(diff := details.get("diff"), str) and diff.strip():
        lines = [(_mark(line), line) for line in printable(diff).split("\n")]
        yield {"is": "diff", "name": one_line(str(details.get("path", message.tool_name))), "lines": lines}
    for block in message.content:
        if isinstance(block, ImageContent):
            yield _image(block)
        elif block.text.strip():
            text = printable(block.text).rstrip()
            count = text.count("\n") + 1
            yield {
                "is": "result",
                "name": one_line(message.tool_name),
                "text": text,
                "first": one_line(text.split("\n", 1)[0], 120),
                "count": count,
                "is_error": message.is_error,
                "folded": count > _FOLD_LINES or bool(diff),
            }


def _mark(line: str) -> str:
    return {"+": "add", "-": "del"}.get(line[:1], "same")


def _image(block: ImageContent) -> dict[str, Any]:
    if block.mime_type in _IMAGE_TYPES and _BASE64.fullmatch(block.data):
        return {"is": "image", "source": f"data:{block.mime_type};base64,{''.join(block.data.split())}"}
    return {"is": "note", "text": "(an image that cannot be shown)"}
