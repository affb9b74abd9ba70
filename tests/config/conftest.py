"""A home directory of its own for each test, and no key in the environment."""

from pathlib import Path

import pytest

from agentcli.config.credentials import KEY_VARIABLES
from tests.files.repository import make_repository


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("AGENTCLI_HOME", str(folder))
    for name in KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A folder deep in a repository."""
    folder = make_repository(tmp_path / "repo") / "a" / "b"
    folder.mkdir(parents=True)
    return folder
