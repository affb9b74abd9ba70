"""What each item of the transcript shows, folded and unfolded."""

from typing import Any

import pytest

from agentcli.agent.messages import (
    BashExecutionMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
    ImageContent,
    TextContent,
    ToolResultMessage,
)
from agentcli.transcript.items import NoticeKind
from agentcli.tui.colors.palette import Palette, Tone
from agentcli.tui.items.item import Foldable, ItemView
from agentcli.tui.painting.rows import plain
from tests.tui.views import compaction_summary, finished, notice, tool_panel, views_of

PALETTE = Palette({})


def shown(item: ItemView, width: int = 80, *, unfolded: bool = False) -> list[str]:
    if isinstance(item, Foldable):
        item.expanded = unfolded
    return plain(item.rows(width, PALETTE))


def tones(item: ItemView, start: str) -> set[object]:
    """The styles of the rows that begin with this, after the gutter."""
    rows = [made for made in item.rows(80, PALETTE) if made.text.startswith(start)]
    return {list(made)[-1].style for made in rows}


def test_a_command_has_its_output_its_time_and_how_it_ended() -> None:
    text = "\n".join(f"line {number}" for number in range(30))
    item = finished("bash", {"command": "make\nmake test"}, text, {"exit_code": 3, "duration_ms": 2512}, True)
    folded = shown(item)
    assert folded[:2] == ["✗ bash make  2.5 s, exit 3", "  make test"]
    assert folded[2:4] == ["  │ … 20 earlier lines", "  │ line 20"] and folded[-1] == "  │ line 29"
    assert shown(item, unfolded=True)[2:] == [f"  │ line {number}" for number in range(30)]


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"exit_code": 137, "signal": "SIGKILL"}, "SIGKILL"),
        ({"exit_code": None, "timed_out": True}, "timed out"),
        ({"aborted": True}, "stopped"),
        ({"job": "b1", "running": True}, "job b1 goes on"),
        ({"exit_code": 0, "job": "b1", "background": [{"pid": 1, "command": "x"}]}, "job b1 goes on"),
        ({"exit_code": 0, "job": "b1"}, "job b1 has ended"),
        ({"exit_code": 0}, ""),
        (None, ""),
    ],
)
def test_how_a_command_ended_is_in_its_title(details: Any, words: str) -> None:
    assert shown(finished("bash", {"command": "x"}, "", details))[0] == f"✓ bash x  {words}".rstrip()


def test_a_long_command_is_cut_until_it_is_unfolded() -> None:
    item = finished("bash", {"command": "\n".join(f"echo {number}" for number in range(20))})
    assert shown(item)[6] == "  … 14 more lines" and len(shown(item)) == 7
    assert shown(item, unfolded=True)[-1] == "  echo 19"


def test_the_tail_of_live_output_is_longer_unfolded() -> None:
    item = tool_panel("bash", {"command": "x"})
    item.item.start(0.0)
    item.item.update("\n".join(map(str, range(100))), None)
    item.item.tick(4.2)
    assert shown(item)[0] == "● bash x  4 s" and shown(item)[1:3] == ["  │ … 94 earlier lines", "  │ 94"]
    assert shown(item, unfolded=True)[1] == "  │ … 60 earlier lines"


def test_a_read_has_its_path_and_range_and_its_text_when_unfolded() -> None:
    details = {"first_line": 1, "last_line": 2, "total_lines": 9}
    item = finished("read", {"path": "a.py"}, "one\ntwo", details)
    assert shown(item) == ["✓ read a.py", "  │ lines 1-2 of 9"]
    assert shown(item, unfolded=True) == ["✓ read a.py", "  │ one", "  │ two"]
    assert shown(finished("read", {"path": "a.py", "offset": 5, "limit": 3}, "x"))[0] == "✓ read a.py:5-7"


def test_an_edit_shows_what_it_asks_for_and_then_its_diff_with_line_numbers() -> None:
    item = tool_panel("edit")
    item.item.set_arguments({"path": "a.py", "old_string": "two\n", "new_string": "2\nzwei"})
    asked = ["  │ - two", "  │ + 2", "  │ + zwei"]
    assert shown(item) == ["○ edit a.py", *asked]
    item.item.start(0.0)
    assert shown(item) == ["● edit a.py", *asked]
    item.item.finish("Edited a.py", {"diff": " 1 one\n-2 two\n+2 2\n+3 zwei\n..."}, is_error=False)
    assert shown(item) == ["✓ edit a.py", "  │  1 one", "  │ -2 two", "  │ +2 2", "  │ +3 zwei", "  │ ..."]
    assert tones(item, "  │ -2") == {PALETTE[Tone.REMOVED]} and tones(item, "  │ +") == {PALETTE[Tone.ADDED]}


def test_a_failed_edit_shows_why_and_unfolded_also_what_it_asked_for() -> None:
    item = finished("edit", {"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]}, "no such text", None, True)
    assert shown(item) == ["✗ edit a", "  │ no such text"]
    assert shown(item, unfolded=True) == ["✗ edit a", "  │ - x", "  │ + y", "  │ no such text"]


def test_a_new_file_is_added_lines_with_numbers() -> None:
    content = "".join(f"line {number}\n" for number in range(1, 51))
    item = tool_panel("write")
    item.item.set_arguments({"path": "n.py", "content": content})
    assert shown(item)[:2] == ["○ write n.py", "  │ + 1 line 1"]
    item.item.finish("Created n.py: 50 lines.\nmore", {"created": True, "diff": ""}, is_error=False)
    folded = shown(item)
    assert folded[1:3] == ["  │ Created n.py: 50 lines.", "  │ + 1 line 1"] and folded[-1] == "  │ … 20 more lines"
    assert shown(item, unfolded=True)[-1] == "  │ +50 line 50"


def test_an_overwritten_file_shows_its_diff_or_nothing_if_that_is_not_known() -> None:
    arguments = {"path": "n.py", "content": "same\nnew\n"}
    item = finished("write", arguments, "Overwrote n.py.", {"created": False, "diff": " 1 same\n-2 old\n+2 new"})
    assert shown(item)[1:] == ["  │  1 same", "  │ -2 old", "  │ +2 new"]
    assert shown(finished("write", arguments, "Overwrote n.py.", {"created": False}))[1:] == ["  │ Overwrote n.py."]
    # Sessions from before there were such details.
    assert shown(finished("write", arguments, "Wrote n.py.", None))[2] == "  │ +1 same"


def test_searches_say_how_much_they_found() -> None:
    assert shown(finished("ls", {}, "a\nb", {"entries": 2})) == ["✓ ls .", "  │ 2 entries"]
    assert shown(finished("ls", {}, "a\nb", {"entries": 2}), unfolded=True)[1:] == ["  │ a", "  │ b"]
    found = finished("find", {"pattern": "*.py", "path": "src"}, "a.py", {"results": 1})
    assert shown(found) == ["✓ find *.py in src", "  │ 1 file"]
    matches = finished("grep", {"pattern": "x"}, "a:1: x\nb:2: x", {"matches": 2, "files": 2})
    assert shown(matches) == ["✓ grep x", "  │ a:1: x", "  │ b:2: x"]


def test_an_unknown_tool_has_its_arguments_cut_until_it_is_unfolded() -> None:
    item = finished("teleport", {"where": "home\nor away", "list": [1, {"a": 2}]}, "done")
    assert shown(item) == ["✓ teleport", "  │ where: home or away", '  │ list: [1, {"a": 2}]', "  │ done"]
    unfolded = shown(item, unfolded=True)
    assert unfolded[1:3] == ["  │ where: home", "  │ or away"] and '  │     "a": 2' in unfolded
    many = finished("teleport", {f"a{number}": number for number in range(20)})
    assert shown(many)[-1] == "  │ … 12 more arguments" and len(shown(many, unfolded=True)) == 21


def test_images_of_a_result_are_named() -> None:
    message = ToolResultMessage("1", "camera", [TextContent("click"), ImageContent("A" * 16_000, "image/png")])
    items = views_of([message])
    assert shown(items[0])[1:] == ["  │ click", "  │ [image: image/png, 12 kB]"]


def test_odd_arguments_are_shown_as_they_can_be() -> None:
    for arguments in ({}, {"edits": "[]"}, {"edits": [1, None, {"old_text": 3}]}, {"path": 7, "content": None}):
        for name in ("edit", "write", "bash", "read", "grep", "ls"):
            assert name in shown(finished(name, arguments, "x"), unfolded=True)[0]


def test_a_huge_output_is_laid_out_in_part() -> None:
    item = finished("teleport", {"x": "y" * 100_000}, "line\n" * 50_000 + "z" * 100_000)
    assert len(shown(item)) < 20
    assert len(shown(item, unfolded=True)) < 2_100


def test_a_command_of_the_person_says_whether_the_model_is_told() -> None:
    messages = [
        BashExecutionMessage("ls", "a\n", exit_code=0),
        BashExecutionMessage("false", "", exit_code=1, exclude_from_context=True),
        BashExecutionMessage("sleep 9", "", cancelled=True),
        BashExecutionMessage("seq 9", "9\n", exit_code=0, truncated=True, full_output_path="/tmp/out"),
    ]
    items = views_of(messages)
    assert shown(items[0]) == ["✓ ! ls  the model is told", "  │ a"]
    assert shown(items[1]) == ["✗ !! false  exit 1  the model is not told"]
    assert shown(items[2])[0] == "✗ ! sleep 9  stopped  the model is told"
    assert shown(items[3])[-1] == "  │ [all of it is in /tmp/out]"


def test_a_summary_is_two_rows_until_it_is_unfolded() -> None:
    item = compaction_summary("## Goal\n\n- one\n- two", 182_345, 21_000)
    title = "≡ the conversation before this was summarised (182,345 → 21,000 tokens)"
    assert shown(item) == [title, "  │ ## Goal (+2 lines)"]
    assert shown(item, unfolded=True) == [title, "  │ ## Goal", "  │", "  │ • one", "  │ • two"]
    items = views_of([CompactionSummaryMessage("x", 500), BranchSummaryMessage("y", "e")])
    assert shown(items[0])[0].endswith("summarised (500 tokens)")
    assert shown(items[1]) == ["≡ another branch of this conversation, summarised", "  │ y"]


def test_notices_that_follow_each_other_are_one_item() -> None:
    item = notice("one")
    assert (
        item.item.merge(notice("two").item)
        and item.item.merge(notice("two").item)
        and item.item.merge(notice("three", hint="do this").item)
    )
    assert shown(item) == ["ℹ one", "ℹ two (×2)", "ℹ three", "  do this"]
    for number in range(10):
        assert item.item.merge(notice(f"more {number}").item)
    assert shown(item)[:2] == ["ℹ … 8 earlier notices", "ℹ more 5"] and len(shown(item)) == 6
    assert shown(item, unfolded=True)[0] == "ℹ one"


def test_of_what_a_notice_is_about_the_last_word_counts() -> None:
    item = notice("model a", subject="model")
    assert item.item.merge(notice("thinking high", subject="thinking").item) and item.item.merge(
        notice("model b", subject="model").item
    )
    assert shown(item) == ["ℹ thinking high", "ℹ model b"]


def test_errors_are_counted_only_if_they_are_the_same() -> None:
    item = notice("busy", NoticeKind.ERROR, "wait")
    assert item.item.merge(notice("busy", NoticeKind.ERROR, "wait").item)
    assert shown(item) == ["✗ busy (×2)", "  wait"]
    assert not item.item.merge(notice("other", NoticeKind.ERROR).item) and not item.item.merge(notice("busy").item)


@pytest.mark.parametrize("width", [1, 2, 5, 20])
def test_every_item_fits_any_width(width: int) -> None:
    diff = {"diff": "-1 " + "x" * 90}
    items: list[ItemView] = [
        finished("bash", {"command": "echo 你好 " * 9}, "你好 " * 40, {"exit_code": 1}, True),
        finished("edit", {"path": "a" * 60}, "x", diff),
        finished("write", {"path": "b", "content": "\t你好" * 30}),
        compaction_summary("# 你好\n\n" + "word " * 40, 5, 3),
        notice("你好 " * 20, hint="do " * 20),
    ]
    for item in items:
        for unfolded in (False, True):
            shown(item, width, unfolded=unfolded)
            assert all(made.cell_length <= width for made in item.rows(width, PALETTE))


def test_a_compaction_says_why_it_was_made_and_what_of():
    said = compaction_summary("text", 9_000, 1_000, "threshold", 12).item.title
    assert said.endswith("summarised (9,000 → 1,000 tokens): 12 messages, it came near the window")
    assert compaction_summary("text", 0, 0, "overflow", 1).item.title.endswith(
        "summarised: 1 message, it was longer than the window"
    )
