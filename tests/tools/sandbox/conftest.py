"""Commands in each sandbox that this machine has, with a folder outside that they must not touch."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agentcli.agent.errors import ConfigError
from agentcli.tools.sandbox.policy import SandboxPolicy
from agentcli.tools.sandbox.sandbox import Sandbox
from agentcli.tools.toolset import ToolOptions, create_toolset
from tests.tools.conftest import Tools

BACK_ENDS = ("bubblewrap", "Landlock")
NOT_HERE = ("is not installed", "this kernel has", "Creating new namespace failed", "No permissions to create")
GIT = {
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip


class Place:
    """A repository to work in, a folder outside of it with a file, and a home with a key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cwd = folder / "work"
        self.outside = folder / "outside"
        self.home = folder / "home"
        for path in (self.cwd, self.outside, self.home / ".ssh"):
            path.mkdir(parents=True)
        (self.outside / "kept").write_text("as it was")
        (self.home / ".ssh" / "id").write_text("PRIVATE-KEY")


def make_sandbox(policy: SandboxPolicy, private: Path, name: str) -> Sandbox:
    try:
        return Sandbox(policy, private, name)
    except ConfigError as error:
        if not any(reason in str(error) for reason in NOT_HERE):
            raise
        pytest.skip(str(error))


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Not in `/tmp` if that can be: a private one would hide it."""
    parents = [Path(name) for name in ("/opt", "/srv", "/var/opt") if os.access(name, os.W_OK)]
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="agentcli-test-", dir=parents[0] if parents else None)))
    place = Place(folder)
    monkeypatch.setenv("HOME", str(place.home))
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)
    yield place
    shutil.rmtree(folder)


@pytest.fixture(params=BACK_ENDS)
def back_end(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def inside(place: Place, back_end: str) -> AsyncIterator[Tools]:
    """The tools in a repository, with its commands in the sandbox."""
    import subprocess

    subprocess.run(["git", "init", "-q", str(place.cwd)], check=True)
    (place.cwd / ".agentcli.toml").write_text("bash_timeout = 99\n")
    sandbox = make_sandbox(SandboxPolicy(cwd=place.cwd), place.folder / "private", back_end)
    options = ToolOptions(cwd=place.cwd, sandbox=sandbox, spill_dir=place.folder / "spill", bash_timeout_s=20)
    toolset = create_toolset(options)
    yield Tools(toolset, options)
    await toolset.close()
