"""The result of a tool call: its text as lines, and its details in few words."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from agentcli.agent.messages import AssistantContent, ImageContent, UserContent, text_of
from agentcli.tui.items.call_text import Call


def result_text(content: str | Sequence[UserContent | AssistantContent]) -> str:
    """The text of a result, and a line for each image that came with it."""
    text = text_of(content)
    if isinstance(content, str):
        return text
    images = [_named(block) for block in content if isinstance(block, ImageContent)]
    return "\n".join([*([text] if text else []), *images]) if images else text


def detail(details: Any, name: str) -> Any:
    """A field of a result's details, which are a Struct while the tool runs and a dict once they were stored."""
    if isinstance(details, Mapping):
        return cast("Mapping[str, Any]", details).get(name)
    return getattr(details, name, None)


def summary(call: Call, text: str, details: Any) -> str:
    """The result of a call that reads or writes files, in a line: the content is in the model's context."""
    match call.name:
        case "read":
            if detail(details, "image") is not None:
                return text.partition("\n")[0]
            first, last, total = (detail(details, name) for name in ("first_line", "last_line", "total_lines"))
            return f"lines {first}-{last}" + (f" of {total}" if total else "") if first and last else ""
        case "ls" if isinstance(entries := detail(details, "entries"), int):
            return f"{entries:,} {'entry' if entries == 1 else 'entries'}"
        case "find" if isinstance(found := detail(details, "results"), int):
            return f"{found:,} {'file' if found == 1 else 'files'}"
        case "write" | "ls" | "find":
            return text.partition("\n")[0]
        case _:
            return ""


def ending(details: Any) -> list[str]:
    """How a command failed, and the job that continues."""
    code, signal, job = (detail(details, name) for name in ("exit_code", "signal", "job"))
    words: list[str] = []
    if detail(details, "timed_out"):
        words.append("timed out")
    elif detail(details, "aborted"):
        words.append("stopped")
    elif signal:
        words.append(str(signal))
    elif code:
        words.append(f"exit {code}")
    if job:
        is_running = detail(details, "running") or detail(details, "background")
        words.append(f"job {job} {'goes on' if is_running else 'has ended'}")
    return words


def _named(image: ImageContent) -> str:
    # Four characters of base64 are three bytes.
    return f"[image: {image.mime_type}, {max(len(image.data) * 3 // 4 // 1000, 1):,} kB]"
