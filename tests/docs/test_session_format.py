"""What docs/development/session-format.md says of a session file: every kind of entry, each field, and examples."""

import re
from typing import get_args

import pytest
from msgspec import Struct

from agentcli.agent.messages import (
    AgentMessage,
    AssistantContent,
    CompactionSummaryMessage,
    Usage,
    UsageCost,
    UserContent,
)
from agentcli.sessions.codec import decode_entry, decode_header
from agentcli.sessions.entries import VERSION, KnownEntry, SessionHeader, TreeEntry, UnknownEntry
from tests.docs.paths import DOCS

TEXT = (DOCS / "development" / "session-format.md").read_text()
KINDS: dict[str, type[Struct]] = {str(kind.__struct_config__.tag): kind for kind in get_args(KnownEntry)}


def section(title: str) -> str:
    """The text below a heading, up to the next one."""
    return re.split(r"^##+ ", TEXT.partition(f"# {title}\n")[2], maxsplit=1, flags=re.M)[0]


def named(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text))


def example(title: str) -> bytes:
    """The line of JSON in a section."""
    (line,) = re.findall(r"^```json\n(.+)\n```$", section(title), re.M)
    return line.encode()


def test_the_header():
    assert named(section("Header")) >= set(SessionHeader.__struct_fields__)
    header = decode_header(example("Header"))
    assert header is not None and header.version == VERSION


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_with_its_fields_and_an_example(kind: str):
    fields = {*KINDS[kind].__struct_fields__} - {*TreeEntry.__struct_fields__}
    assert fields - named(section(kind)) == set()
    assert kind in named(section("Entries"))
    entry = decode_entry(example(kind))
    assert type(entry) is KINDS[kind] and not isinstance(entry, UnknownEntry)


def test_every_message_and_block_with_its_fields():
    described = named(section("Messages"))
    kinds: list[type[Struct]] = [*get_args(AgentMessage), *get_args(UserContent), *get_args(AssistantContent)]
    for kind in [*kinds, CompactionSummaryMessage, Usage, UsageCost]:
        assert {*kind.__struct_fields__} - described == set(), kind
        if (tag := kind.__struct_config__.tag) is not None:
            assert tag in described
