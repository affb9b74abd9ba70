"""Suggests the known name that was probably meant."""

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """`did you mean NAME?` with the most similar known name; empty if none is similar.

    Args:
        name: as it was written.
        known: the names that exist.
        prefix: shown before the suggested name.
    """
    from difflib import get_close_matches  # only for an error

    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {prefix}{near[0]}?" if near else ""
