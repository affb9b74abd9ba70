"""Fixtures that tests of several directories use, and how the suite runs.

`--hypothesis-profile=thorough` tries ten times as many examples.
"""

import gc
import os
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, settings

from agentcli.config import masking
from tests.fake_server import FakeServer

# No example has a time limit: what else runs on the machine decides how long it takes.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("suite", max_examples=100, **_UNTIMED)
settings.register_profile("thorough", max_examples=1000, **_UNTIMED)
settings.load_profile("suite")


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through all that collection made, again and again: a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(autouse=True)
def no_known_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that one test made known are not masked in another."""
    monkeypatch.setattr(masking, "_known", {})


@pytest.fixture
async def fake_server() -> AsyncIterator[FakeServer]:
    """A model server on loopback that refuses what the real ones refuse; `answer` scripts it."""
    async with FakeServer(strict=True) as server:
        yield server


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: three tests a core, for most of their time they wait for terminals, processes and servers."""
    return 3 * (os.cpu_count() or 1)
