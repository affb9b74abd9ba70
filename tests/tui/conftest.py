"""The app with a scripted model, in a folder and a home of its own."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.config.settings import PermissionMode, RetrySettings, Settings
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.session_choice import SessionChoice
from agentcli.tui.app import ChatApp
from tests.tui.drive import write_script
from tests.tui.pty_app import PtyApp

Answer = list[dict[str, Any]]
MakeApp = Callable[..., ChatApp]


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the agent works in; the home is beside it."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.setenv("AGENTCLI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def make_app(work: Path) -> MakeApp:
    """`make_app(answers…)` makes an app whose model gives these answers; options by name.

    It lets every call run, unless `mode` says otherwise; None is the app's own mode.
    """
    made = 0

    def make(
        *answers: Answer, continue_: bool = False, mode: PermissionMode | None = PermissionMode.AUTO, **settings: Any
    ) -> ChatApp:
        nonlocal made
        made += 1
        # A process plays each script file once.
        script = write_script(work / f"script-{made}.jsonl", *answers)
        retry = settings.pop("retry", RetrySettings(base_delay=0.05)) or RetrySettings()
        return ChatApp(
            RuntimeOptions(
                settings=Settings(retry=retry, **settings),
                model=f"scripted:{script}",
                session=SessionChoice(continue_=continue_),
                permission_mode=mode,
            )
        )

    return make


@pytest.fixture
def start(work: Path) -> Iterator[Callable[..., PtyApp]]:
    """`start(answers…)` starts the app in a pseudo terminal, and waits for its prompt."""
    apps: list[PtyApp] = []

    def make(*answers: Answer, **how: Any) -> PtyApp:
        apps.append(PtyApp(work, *answers, **how))
        return apps[-1].ready()

    yield make
    for app in apps:
        app.kill()


def markup_lines() -> list[str]:
    """Text that other programs took for markup."""
    return (Path(__file__).parent / "inputs" / "markup.txt").read_text().splitlines()


def escapes() -> str:
    """Sequences that no terminal may see. Those of the payload carry the marker ZQX."""
    return (Path(__file__).parent / "inputs" / "escapes.bin").read_bytes().decode("utf-8", "surrogateescape")


__all__ = ["json"]
