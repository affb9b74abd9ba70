"""Search: the sessions that contain words, phrases or a pattern.

`words` must all occur (in the id, working directory, name or messages), `"a phrase"` literally, `re:…` as a regular
expression; case is ignored. Only names, of sessions and of their directories, are also matched fuzzily (the letters in
order), and come last: a long path would match any letters.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from agentcli.agent.errors import SessionError, UsageError
from agentcli.agent.messages import AssistantMessage, UserMessage, text_of
from agentcli.agent.text import one_line
from agentcli.sessions.entries import MessageEntry
from agentcli.sessions.listing import SessionInfo
from agentcli.sessions.storage.jsonl_storage import JsonlSessionStorage

_AROUND = 40
"""Characters shown before and after the match."""

Match = Callable[[str], "tuple[int, int] | None"]
"""Finds the span of one search term in a text; None if it is not in it."""


class SearchHit(Struct, frozen=True):
    """A session that was found."""

    info: SessionInfo
    rank: int
    """0: the name; 1: exact, in id, working directory or messages; 2: the session's or directory's name, fuzzily."""
    excerpt: str
    """One line with the match."""
    span: tuple[int, int]
    """Of the match in the excerpt."""


def search_sessions(infos: Iterable[SessionInfo], query: str) -> list[SearchHit]:
    """Search sessions. Best first; those of one rank in the order of `infos`.

    Raises:
        UsageError: the pattern is invalid.
    """
    matches = parse_query(query)
    hits = [hit for info in infos if (hit := _search(info, query, matches)) is not None]
    return sorted(hits, key=lambda hit: hit.rank)


def parse_query(query: str) -> list[Match]:
    """The terms of a query, all of which must match. Raises UsageError if its pattern is invalid."""
    query = query.strip()
    if query.startswith("re:"):
        try:
            return [_finder(re.compile(query[3:], re.I))]
        except re.error as error:
            problem = f"{query[3:]!r} is no pattern: {error}"
            raise UsageError(problem, hint="correct it, or search words") from None
    tokens = re.findall(r'"([^"]+)"|(\S+)', query)
    return [_finder(re.compile(re.escape(phrase or word.strip('"')), re.I)) for phrase, word in tokens]


def _finder(pattern: re.Pattern[str]) -> Match:
    def find(text: str) -> tuple[int, int] | None:
        found = pattern.search(text)
        return found.span() if found else None

    return find


def _search(info: SessionInfo, query: str, matches: list[Match]) -> SearchHit | None:
    if info.name and all(match(info.name) for match in matches):
        return _hit(info, 0, info.name, matches)
    missing = list(matches)
    best: str | None = None
    for text in _texts(info):
        found = [match for match in missing if match(text)]
        if found and (best is None or len(found) == len(matches)):
            best = text
        missing = [match for match in missing if match not in found]
        if not missing:
            return _hit(info, 1, best or text, matches)
    for text in (info.name or "", Path(info.cwd).name):
        if _is_loosely_in(query, text):
            return SearchHit(info, 2, one_line(text), (0, len(one_line(text))))
    return None


def _texts(info: SessionInfo) -> Iterator[str]:
    yield from (info.id, info.name or "", info.cwd)
    try:
        storage = JsonlSessionStorage.read(info.path)
    except SessionError:
        # It may have been deleted, or have another format.
        return
    try:
        for entry in storage.get_some([head.id for head in storage.heads() if head.type == "message"]):
            if isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage | AssistantMessage):
                yield text_of(entry.message.content)
    finally:
        storage.close()


def _hit(info: SessionInfo, rank: int, text: str, matches: list[Match]) -> SearchHit:
    start, end = next((span for match in matches if (span := match(text))), (0, 0))
    before = one_line(text[max(start - _AROUND, 0) : start])
    found = one_line(text[start:end])
    after = one_line(text[end : end + _AROUND])
    lead = ("…" if start > _AROUND else "") + before + (" " if text[max(start - 1, 0) : start].isspace() else "")
    tail = (" " if text[end : end + 1].isspace() else "") + after
    return SearchHit(info, rank, lead + found + tail, (len(lead), len(lead) + len(found)))


def _is_loosely_in(query: str, text: str) -> bool:
    letters = iter(text.lower())
    wanted = [letter for letter in query.lower() if not letter.isspace()]
    return bool(wanted) and all(letter in letters for letter in wanted)
