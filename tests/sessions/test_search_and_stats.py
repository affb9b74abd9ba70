"""Finding a session by its content, and what a session took."""

from pathlib import Path

import pytest

from agentcli.agent.errors import UsageError
from agentcli.agent.messages import (
    AssistantMessage,
    TextContent,
    ToolCall,
    ToolResultMessage,
    Usage,
    UsageCost,
    user_message,
)
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.search import SearchHit, search_sessions


@pytest.fixture
def repo(tmp_path: Path) -> JsonlSessionRepo:
    repo = JsonlSessionRepo(tmp_path / "sessions")
    cwd = tmp_path / "t-k-n" / "work"
    cwd.mkdir(parents=True)
    talks = {
        "parser": ["Fix the parser", "The tokenizer skipped\nthe last line."],
        "release": ["write release notes", "Done: see CHANGES for parser and docs."],
        None: ["a question about a.b*c", "an answer"],
    }
    for name, (question, answer) in talks.items():
        session = repo.create(cwd)
        session.append_message(user_message(question))
        session.append_message(AssistantMessage([TextContent(answer)]))
        session.append_message(ToolResultMessage("1", "bash", [TextContent("only in a tool result")]))
        if name:
            session.append_session_info(name)
        session.close()
    return repo


def found(repo: JsonlSessionRepo, query: str) -> list[SearchHit]:
    return search_sessions(repo.list(), query)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("parser", ["parser", "release"]),
        ("PARSER tokenizer", ["parser"]),
        ('"last line"', ["parser"]),
        ('"line last"', []),
        ("release changes", ["release"]),
        ("re:token.*ped", ["parser"]),
        ("a.b*c", [None]),
        ("rls", ["release"]),
        ("tkn", []),
        ("wrk", [None, "release", "parser"]),
        ("t-k-n", [None, "release", "parser"]),
        ("only in a tool result", []),
        ("nowhere at all", []),
    ],
)
def test_words_phrases_and_patterns(repo: JsonlSessionRepo, query: str, names: list[str | None]):
    assert [hit.info.name for hit in found(repo, query)] == names


def test_the_name_counts_more_than_the_text_and_a_loose_match_least(repo: JsonlSessionRepo):
    assert [hit.rank for hit in found(repo, "parser")] == [0, 1]
    assert [hit.rank for hit in found(repo, "rls")] == [2]


def test_what_was_found_is_marked_in_one_line(repo: JsonlSessionRepo):
    (hit,) = found(repo, "skipped")
    assert hit.excerpt[slice(*hit.span)] == "skipped"
    assert "\n" not in hit.excerpt


def test_an_id_is_found_exactly(repo: JsonlSessionRepo):
    info = repo.list()[1]
    assert found(repo, info.id)[0].info == info


def test_an_invalid_pattern_is_reported(repo: JsonlSessionRepo):
    with pytest.raises(UsageError, match="no pattern"):
        found(repo, "re:(")


def test_usage_is_added_field_by_field():
    usage = Usage(100, 10, 5, 1, 116, UsageCost(1, 2, 3, 4, 10))
    assert Usage() + usage == usage
    assert usage + usage == Usage(200, 20, 10, 2, 232, UsageCost(2, 4, 6, 8, 20))
    assert (usage.counted, Usage(100, 10, 5, 1).counted) == (116, 116)


def test_stats_count_every_branch_by_model_and_tool(tmp_path: Path):
    session = JsonlSessionRepo(tmp_path / "sessions").create(tmp_path)
    usage = Usage(100, 10, 5, 1, 116, UsageCost(total=0.25))
    first = session.append_message(user_message("q"))
    calls = [ToolCall("1", "bash", {}), ToolCall("2", "read", {})]
    session.append_message(AssistantMessage(calls, provider="p", model="m", usage=usage))
    session.append_message(ToolResultMessage("1", "bash", [TextContent("x")], is_error=True))
    session.append_message(ToolResultMessage("2", "read", [TextContent("x")]))
    session.move_to(first)
    session.append_message(AssistantMessage([TextContent("b")], provider="p", model="other", usage=usage))
    session.append_compaction("sum", None, 10, usage=usage)
    stats = session.get_stats()
    assert (stats.message_count, stats.user_messages, stats.assistant_messages, stats.tool_results) == (5, 1, 2, 2)
    assert (stats.total_tokens, stats.cost_total, stats.branches, stats.compactions) == (348, 0.75, 2, 1)
    assert {name: of.answers for name, of in stats.models.items()} == {"p/m": 1, "p/other": 1, "(summaries)": 1}
    assert {name: (of.calls, of.errors) for name, of in stats.tools.items()} == {"bash": (1, 1), "read": (1, 0)}
    assert session.storage.get_session_stats() == stats
    session.close()
