"""The command blocks of the documentation that are marked `sh run` work: each page in a directory and a home of its own.

The blocks of a page run one after another in one shell, without a key, so the offline pilot answers.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.docs.paths import ROOT
from tests.docs.test_links import PAGES

_BLOCK = re.compile(r"^```sh run\n(.*?)^```$", re.M | re.S)


def blocks(page: Path) -> list[str]:
    """The marked blocks of a page, in order."""
    return _BLOCK.findall(page.read_text())


RUNNABLE = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_work(page: Path, command: Command):
    script = "set -euxo pipefail\n" + "\n".join(blocks(page))
    environment = {**command.environment, "PATH": f"{Path(sys.executable).parent}:{command.environment['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=command.folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_most_pages_for_users_have_such_blocks():
    names = {page.name for page in RUNNABLE}
    assert {"getting-started.md", "sessions.md", "permissions.md", "scripting.md", "rpc.md", "extensions.md"} <= names
