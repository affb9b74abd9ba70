"""Lone surrogates: half characters that no UTF-8 can hold, and that would end a session file or a request.

They come from truncation inside an emoji, from file names that are not UTF-8, and from models' own escapes.
"""

from typing import Any, cast


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, and two that make a pair as their character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def data_without_surrogates(value: Any) -> Any:
    """Plain data (dicts, lists, strings …) with the same done to every string in it, keys included."""
    match value:
        case str():
            return without_surrogates(value)
        case dict():
            items = cast("dict[Any, Any]", value).items()
            return {data_without_surrogates(key): data_without_surrogates(item) for key, item in items}
        case list() | tuple():
            return [data_without_surrogates(item) for item in cast("list[Any]", value)]
        case _:
            return value
