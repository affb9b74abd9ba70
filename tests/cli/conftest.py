"""Fixtures of the tests that start agentcli as a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.fake_server import FakeServer


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path / "work", tmp_path / "home")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A strict model server with a thread of its own."""
    running = FakeServer.start_in_thread(strict=True)
    yield running
    running.stop()
