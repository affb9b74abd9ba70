"""OutputFormat: what `agentcli run` writes to stdout."""

from enum import StrEnum


class OutputFormat(StrEnum):
    TEXT = "text"
    """The answer as it streams."""
    JSON = "json"
    """One `result` at the end."""
    EVENTS = "events"
    """Every event as a line of JSON, and the `result` as the last one."""
