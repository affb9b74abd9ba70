"""Fixtures that tests of several folders use."""

from collections.abc import AsyncIterator

import pytest

from tests.fake_server import FakeServer


@pytest.fixture
async def fake_server() -> AsyncIterator[FakeServer]:
    """A model server on loopback that refuses what the real ones refuse; `answer` scripts it."""
    async with FakeServer(strict=True) as server:
        yield server
