"""A runtime in a folder and a home of its own, with the scripted model of the tests."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agentcli.config.settings import RetrySettings, Settings
from agentcli.providers.scripted import ScriptedStream, Step
from agentcli.runtime.runtime import Runtime, RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice

FAST = Settings(retry=RetrySettings(base_delay=0.01))

Make = Callable[..., Runtime]


@pytest.fixture
async def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Make]:
    """`make(answer, answer…, **options)`: a runtime whose model gives these answers."""
    monkeypatch.setenv("AGENTCLI_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    made: list[Runtime] = []

    def make_runtime(*answers: list[Step], settings: Settings = FAST, **options: Any) -> Runtime:
        options.setdefault("session", SessionChoice(cwd=folder))
        options.setdefault("stream_fn", ScriptedStream(list(answers)))
        runtime = Runtime.create(RuntimeOptions(settings=settings, **options))
        made.append(runtime)
        return runtime

    yield make_runtime
    for runtime in made:
        await runtime.close()


@pytest.fixture
async def closing() -> AsyncIterator[list[Any]]:
    """What is put in here is closed at the end."""
    runtimes: list[Any] = []
    yield runtimes
    for runtime in runtimes:
        await runtime.close()
