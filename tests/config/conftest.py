"""A home of its own for each test, and no key known from another one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.config.credentials import KEY_VARIABLES
from agentcli.config.masking import forget_keys
from tests.files.repository import make_repository


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("AGENTCLI_HOME", str(folder))
    for name in KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    forget_keys()
    yield folder
    forget_keys()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A folder deep in a repository."""
    folder = make_repository(tmp_path / "repo") / "a" / "b"
    folder.mkdir(parents=True)
    return folder
