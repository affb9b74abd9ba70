"""How every screen looks. `pytest tests/tui/test_snapshots.py --snapshot-update` takes new pictures: look at them."""

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from agentcli.sessions.session import Session
from agentcli.tui.app import ChatApp
from tests.tui import states
from tests.tui.drive import ready
from tests.tui.pictures import PictureApp
from tests.tui.states import Prepare

SIZES = [(80, 24), (120, 40)]
STATES: list[Prepare] = [
    states.at_the_start,
    states.in_conversation,
    states.scrolled_back,
    states.with_tools,
    states.with_notes,
    states.after_failures,
    states.with_a_queue,
    states.in_the_queue,
    states.asking,
    states.completing,
    states.completing_files,
    states.commands,
    states.models,
    states.thinking,
    states.themes,
    states.help,
    states.help_searched,
    states.history,
    states.sessions,
]
IN_A_TREE: list[Prepare] = [states.in_the_tree, states.in_the_tree_at_a_label, states.labelling]

SnapCompare = Callable[..., bool]


def picture(
    snap_compare: SnapCompare,
    prepare: Prepare,
    size: tuple[int, int],
    theme: str = "dark",
    session: Session | None = None,
) -> bool:
    app = PictureApp(states.options(theme, session), theme)

    async def run_before(pilot: Pilot[Any]) -> None:
        app: ChatApp = await ready(pilot)
        await prepare(pilot, app)
        await pilot.pause(0.1)

    return snap_compare(app, terminal_size=size, run_before=run_before)


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_a_state_looks_as_it_did(snap_compare: SnapCompare, state: Prepare, size: tuple[int, int], theme: str) -> None:
    assert picture(snap_compare, state, size, theme)


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("state", IN_A_TREE, ids=lambda state: state.__name__)
def test_a_tree_looks_as_it_did(snap_compare: SnapCompare, state: Prepare, size: tuple[int, int], theme: str) -> None:
    assert picture(snap_compare, state, size, theme, states.branched())


def test_a_small_terminal_shows_what_matters(snap_compare: SnapCompare) -> None:
    assert picture(snap_compare, states.with_a_queue, (30, 8))
