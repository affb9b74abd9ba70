"""The result of a tool call: its text as lines, and its details in few words."""

from typing import Any

from agentcli.transcript.items import ToolItem, detail


def summary(item: ToolItem) -> str:
    """The result of a call that reads or writes files, in a line: the content is in the model's context."""
    text, details = item.text, item.details
    match item.name:
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
