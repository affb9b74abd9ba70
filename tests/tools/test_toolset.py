"""The set of tools: what is declared, what is shared, and that nothing is left when it is closed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from agentcli.agent.errors import UsageError
from agentcli.agent.tools import AgentTool
from agentcli.tools.bash.overflow_file import SpillFolder
from agentcli.tools.toolset import (
    DEFAULT_TOOL_NAMES,
    READ_ONLY_TOOL_NAMES,
    TOOL_NAMES,
    ToolOptions,
    create_toolset,
)
from tests.tools.conftest import Tools


def declaration(tool: AgentTool) -> dict[str, object]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def test_the_tools_that_are_on_by_default_take_little_of_a_request(cwd: Path) -> None:
    toolset = create_toolset(ToolOptions(cwd=cwd))
    assert [tool.name for tool in toolset.tools] == ["read", "bash", "edit", "write"]
    assert len(msgspec.json.encode([declaration(tool) for tool in toolset.tools])) <= 2600


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_every_declaration_is_plain_json_schema_that_every_server_takes(cwd: Path, name: str) -> None:
    (tool,) = create_toolset(ToolOptions(cwd=cwd), [name]).tools
    assert tool.name == name and tool.label and tool.description
    text = json.dumps(tool.parameters)
    assert tool.parameters["type"] == "object"
    assert "$ref" not in text and "$defs" not in text and "anyOf" not in text


def test_tools_come_in_the_order_of_the_names_and_unknown_names_are_refused(cwd: Path) -> None:
    options = ToolOptions(cwd=cwd)
    assert [tool.name for tool in create_toolset(options, READ_ONLY_TOOL_NAMES).tools] == list(READ_ONLY_TOOL_NAMES)
    assert set(DEFAULT_TOOL_NAMES) | set(READ_ONLY_TOOL_NAMES) == set(TOOL_NAMES)
    with pytest.raises(UsageError, match="powershell"):
        create_toolset(options, ["read", "powershell"])


async def test_the_default_timeout_is_told_to_the_model(cwd: Path) -> None:
    toolset = create_toolset(ToolOptions(cwd=cwd, bash_timeout_s=42))
    assert "default 42" in json.dumps(toolset.tools[1].parameters)


@pytest.mark.parametrize("name", TOOL_NAMES)
async def test_the_details_of_every_result_become_plain_data(tools: Tools, cwd: Path, name: str) -> None:
    (cwd / "f").write_text("needle\n")
    arguments = {
        "read": {"path": "f"},
        "bash": {"command": "seq 1 3000; sleep 60 & true"},
        "edit": {"path": "f", "edits": [{"old_text": "needle", "new_text": "pin"}]},
        "write": {"path": "g", "content": "x"},
        "grep": {"pattern": "needle"},
        "find": {"pattern": "f"},
        "ls": {},
    }[name]
    answer = await tools(name, arguments)
    assert not answer.is_error, answer.text
    plain = msgspec.to_builtins(answer.details)
    assert json.loads(json.dumps(plain)) == plain


async def test_closing_removes_the_files_of_long_outputs_and_more_can_be_made_after(
    tools: Tools, tmp_path: Path
) -> None:
    answer = await tools.bash("seq 1 3000")
    path = Path(answer.details.full_output_path)
    assert path.exists()
    await tools.toolset.close()
    assert list((tmp_path / "spill").iterdir()) == []
    assert Path((await tools.bash("seq 1 3000")).details.full_output_path).exists()
    await tools.toolset.close()
    assert list((tmp_path / "spill").iterdir()) == []


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_spilled_files_are_private_from_the_first_byte_and_their_names_are_not_to_be_guessed(
    tmp_path: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        spills = [SpillFolder(tmp_path / "s") for _ in range(20)]
        made = [spill.create_file("bash") for spill in spills]
    finally:
        os.umask(before)
    for descriptor, path in made:
        os.close(descriptor)
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
    assert len({path.parent.name[-24:] for _, path in made}) == 20
    for spill in spills:
        spill.remove()
    assert list((tmp_path / "s").iterdir()) == []


def test_what_a_killed_agent_left_long_ago_is_removed_and_nothing_else(tmp_path: Path) -> None:
    old, young, other = (tmp_path / name for name in ("agentcli-old", "agentcli-young", "another"))
    for folder in (old, young, other):
        folder.mkdir()
        (folder / "file").touch()
    link = tmp_path / "agentcli-link"
    link.symlink_to(other)
    ages_ago = time.time() - 8 * 86_400
    for folder in (old, other):
        os.utime(folder, (ages_ago, ages_ago))
    spill = SpillFolder(tmp_path)
    os.close(spill.create_file("bash")[0])
    assert not old.exists()
    assert young.exists() and (other / "file").exists() and link.is_symlink()
    spill.remove()


def test_importing_the_tools_loads_nothing_heavy() -> None:
    program = (
        "import sys; import agentcli.tools.toolset as toolset; from pathlib import Path; "
        "toolset.create_toolset(toolset.ToolOptions(cwd=Path('.'))); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"PIL", "charset_normalizer", "pathspec", "psutil", "difflib", "tempfile", "shutil", "hashlib", "json"}
    assert heavy.isdisjoint(done.stdout.split())
