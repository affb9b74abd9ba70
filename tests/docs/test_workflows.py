"""The workflows, ours and the example: actions are pinned to a commit, and zizmor, where it is installed, finds nothing."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.paths import EXAMPLES, ROOT

CI = ROOT / ".github" / "workflows" / "ci.yml"
WORKFLOWS = [CI, EXAMPLES / "github-actions.yml"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_to_a_commit(workflow: Path):
    used = re.findall(r"uses: (.*)", workflow.read_text())
    assert used and [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action)] == []


def test_ci_runs_on_every_python_that_the_project_names():
    versions = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    listed = ", ".join(f'"{version}"' for version in versions)
    assert f"python: [{listed}]" in CI.read_text()
    assert "for version in " + " ".join(versions) + "; do" in (ROOT / ".ci" / "run").read_text()


def test_zizmor_finds_nothing():
    zizmor = shutil.which("zizmor", path=str(Path(sys.executable).parent)) or shutil.which("zizmor")
    if zizmor is None:
        pytest.skip("zizmor is not installed")
    words = [zizmor, "--offline", "--quiet", *map(str, WORKFLOWS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
