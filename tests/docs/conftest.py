"""Fixtures of the tests of the documentation."""

from pathlib import Path

import pytest

from tests.cli.command import Command


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """agentcli in a directory and a home of its own."""
    return Command(tmp_path / "work", tmp_path / "home")
