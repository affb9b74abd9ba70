"""Which rows the tree of a session has."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.sessions.entries import EntryHead, EntryKind
from agentcli.sessions.tree import TreeLine
from agentcli.tui.painting.tree_view import TreeFilter, TreeView

P, A, C, R, M = EntryKind.PROMPT, EntryKind.ANSWER, EntryKind.CALLS, EntryKind.RESULT, EntryKind.MARK


def view(*entries: tuple[str, str | None, EntryKind], labels: dict[str, str] | None = None) -> TreeView:
    """Of entries (id, parent, kind) in the order of a tree."""
    lines = [TreeLine(EntryHead("message", id, parent), parent, 0, False, False, None) for id, parent, _ in entries]
    return TreeView(lines, {id: kind for id, _, kind in entries}, labels or {})


TWO_WAYS = [
    ("p1", None, P),
    ("c1", "p1", C),
    ("r1", "c1", R),
    ("a1", "r1", A),
    ("p2", "a1", P),
    ("a2", "p2", A),
    ("p3", "a1", P),
    ("a3", "p3", A),
]


def drawn(tree: TreeView) -> list[str]:
    return [f"{'  ' * row.stem.depth}{row.id}" for row in tree.rows]


def test_a_chain_is_flat_and_only_what_parts_moves_to_the_right() -> None:
    tree = view(*TWO_WAYS)
    tree.show(TreeFilter.EVERYTHING)
    assert drawn(tree) == ["p1", "c1", "r1", "a1", "  p2", "  a2", "  p3", "  a3"]
    assert [row.id for row in tree.rows if row.starts] == ["p1", "p2", "p3"]
    assert [row.stem.is_last for row in tree.rows] == [True] * 4 + [False] * 2 + [True] * 2


@pytest.mark.parametrize(
    "filter, ids, above_the_result",
    [
        (TreeFilter.DEFAULT, ["p1", "c1", "a1", "p2", "a2", "p3", "a3"], "c1"),
        (TreeFilter.NO_TOOLS, ["p1", "a1", "p2", "a2", "p3", "a3"], "p1"),
        (TreeFilter.PROMPTS, ["p1", "p2", "p3"], "p1"),
        (TreeFilter.LABELLED, ["r1", "a3"], "r1"),
    ],
)
def test_a_filter_leaves_out_the_rest_and_keeps_the_branches(
    filter: TreeFilter, ids: list[str], above_the_result: str
) -> None:
    tree = view(*TWO_WAYS, labels={"r1": "here", "a3": "there"})
    tree.show(filter)
    assert [row.id for row in tree.rows] == ids
    if filter is TreeFilter.PROMPTS:
        assert drawn(tree) == ["p1", "  p2", "  p3"]
    assert tree.nearest("r1") == ids.index(above_the_result)


def test_a_label_or_a_move_is_no_branch() -> None:
    tree = view(("p", None, P), ("m", "p", M), ("a", "p", A), ("n", "a", M))
    tree.show(TreeFilter.EVERYTHING)
    assert drawn(tree) == ["p", "m", "a", "n"]


def test_several_beginnings_part_at_the_left() -> None:
    tree = view(("p1", None, P), ("a1", "p1", A), ("p2", None, P))
    tree.show(TreeFilter.DEFAULT)
    assert drawn(tree) == ["  p1", "  a1", "  p2"]
    assert [row.stem.is_last for row in tree.rows] == [False, False, True]


def test_what_is_folded_is_counted_and_a_search_looks_into_it() -> None:
    tree = view(*TWO_WAYS)
    tree.folded = {"p2"}
    tree.show(TreeFilter.DEFAULT)
    assert [(row.id, row.folded) for row in tree.rows if row.folded] == [("p2", 1)]
    assert tree.nearest("a2") == tree.nearest("p2")
    tree.folded = {"p1"}
    tree.show(TreeFilter.DEFAULT)
    assert [(row.id, row.folded) for row in tree.rows] == [("p1", 6)]
    tree.show(TreeFilter.DEFAULT, {"a2", "a3"}.__contains__)
    assert [row.id for row in tree.rows] == ["a2", "a3"]


def test_folding_goes_up_branch_by_branch() -> None:
    tree = view(*TWO_WAYS)
    tree.show(TreeFilter.DEFAULT)
    at = {row.id: number for number, row in enumerate(tree.rows)}
    assert tree.can_fold(at["p2"]) and not tree.can_fold(at["a2"])
    assert tree.stem_start(at["a2"]) == at["p2"]
    assert tree.stem_start(at["p2"]) == at["p1"] == tree.stem_start(at["p1"])


@st.composite
def trees(draw: st.DrawFn) -> TreeView:
    parents: list[int | None] = []
    for number in range(draw(st.integers(0, 30))):
        parents.append(draw(st.one_of(st.none(), st.integers(0, number - 1))) if number else None)
    children: dict[int | None, list[int]] = {}
    for number, parent in enumerate(parents):
        children.setdefault(parent, []).append(number)
    order, stack = [], list(reversed(children.get(None, [])))
    while stack:
        order.append(number := stack.pop())
        stack += reversed(children.get(number, []))
    kinds = draw(st.lists(st.sampled_from(EntryKind), min_size=len(parents), max_size=len(parents)))
    name = {None: None} | {number: str(number) for number in order}
    tree = view(*((str(number), name[parents[number]], kinds[number]) for number in order))
    tree.folded = set(draw(st.lists(st.sampled_from([str(number) for number in order]), max_size=5)) if order else [])
    return tree


@given(trees(), st.sampled_from(TreeFilter))
def test_every_entry_is_shown_once_or_folded(tree: TreeView, filter: TreeFilter) -> None:
    rows = tree.show(filter)
    ids = [row.id for row in rows]
    assert len(set(ids)) == len(ids)
    if filter is TreeFilter.EVERYTHING:
        assert len(rows) + sum(row.folded for row in rows) == len(tree.lines)
    for number, row in enumerate(rows):
        assert row.parent is None or row.parent < number
        assert 0 <= tree.stem_start(number) <= number
        above = rows[row.parent].stem if row.parent is not None else None
        assert row.stem is above or row.starts
    assert_only_the_last_is_last(rows)


def assert_only_the_last_is_last(rows: Sequence) -> None:
    last: dict[int, bool] = {}
    for row in rows:
        if row.starts and row.kind is not EntryKind.MARK:
            assert not last.get(row.parent if row.parent is not None else -1)
            last[row.parent if row.parent is not None else -1] = row.stem.is_last


def test_a_long_and_deep_tree_is_shown_without_recursion() -> None:
    entries: list[tuple[str, str | None, EntryKind]] = []
    for number in range(5_000):
        entries.append((f"p{number}", f"p{number - 1}" if number else None, P))
    entries += [(f"a{number}", f"p{number}", A) for number in reversed(range(5_000))]
    tree = view(*entries)
    rows = tree.show(TreeFilter.DEFAULT)
    assert len(rows) == 10_000 and max(row.stem.depth for row in rows) == 4_999
