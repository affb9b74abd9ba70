"""SearchOrder: what the search program is told, as the JSON of its one argument."""

from msgspec import Struct


class SearchOrder(Struct, omit_defaults=True):
    kind: str
    """`grep` or `find`."""
    pattern: str
    target: str = "."
    """What is searched: `.` for the working folder, or the name of a file in it."""
    glob: str | None = None
    ignore_case: bool = False
    literal: bool = False
    context: int = 0
    most: int = 0
    """Matches of one file (grep), or paths (find)."""
