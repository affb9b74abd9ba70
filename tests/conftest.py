"""Fixtures that tests of several folders use."""

import os
from collections.abc import AsyncIterator

import pytest

from tests.fake_server import FakeServer


@pytest.fixture
async def fake_server() -> AsyncIterator[FakeServer]:
    """A model server on loopback that refuses what the real ones refuse; `answer` scripts it."""
    async with FakeServer(strict=True) as server:
        yield server


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: two tests a core, for half of their time they wait for terminals, processes and servers."""
    return 2 * (os.cpu_count() or 1)
