"""The profile for macOS, as text: it cannot be tried elsewhere."""

import subprocess
from pathlib import Path

from agentcli.tools.sandbox.policy import SandboxPolicy
from agentcli.tools.sandbox.seatbelt import profile
from tests.tools.sandbox.conftest import Place


def test_the_later_rules_are_the_closer_ones(place: Place) -> None:
    subprocess.run(["git", "init", "-q", str(place.cwd)], check=True)
    lines = profile(
        SandboxPolicy(cwd=place.cwd, shown=(place.home / ".ssh" / "x",)), str(place.folder / "tmp")
    ).splitlines()
    order = [
        "(deny file-write*)",
        f'(allow file-write* (subpath "{place.cwd}"))',
        f'(deny file-write* (subpath "{place.cwd}/.git/hooks"))',
        f'(deny file-read* file-write* (subpath "{place.home}/.ssh"))',
        f'(allow file-read* (subpath "{place.home}/.ssh/x"))',
        "(deny network*)",
        '(allow network* (local ip "localhost:*") (remote ip "localhost:*"))',
    ]
    assert [line for line in lines if line in order] == order


def test_names_are_quoted(tmp_path: Path) -> None:
    odd = tmp_path / 'a"b\\c'
    odd.mkdir()
    text = profile(SandboxPolicy(cwd=odd), str(tmp_path))
    assert f'(subpath "{tmp_path}/a\\"b\\\\c")' in text


def test_hosts_leave_one_port() -> None:
    text = profile(SandboxPolicy(cwd=Path("/"), writes=False, hosts=()), "/tmp", 81)
    assert '(allow network-outbound (remote ip "localhost:81"))' in text and "localhost:*" not in text
