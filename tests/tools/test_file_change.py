"""Every call that may change files is announced once, before it changes anything."""

from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.abort import AbortSignal
from agentcli.agent.errors import ToolError
from agentcli.agent.messages import TextContent, text_of
from agentcli.agent.streaming import resolved
from agentcli.agent.tools import AgentTool, AgentToolResult, ToolKind, ToolTarget
from agentcli.tools.file_change import FileChange
from agentcli.tools.toolset import TOOL_NAMES, ToolOptions, Toolset, added_tool, create_toolset


class Listener:
    """Keeps what is announced, with what the file contains at that moment."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.changes: list[FileChange] = []
        self.contents: list[str] = []

    async def __call__(self, change: FileChange) -> None:
        self.changes.append(change)
        self.contents.append(self.file.read_text())


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.txt"
    file.write_text("before\n")
    return file


@pytest.fixture
def listener(file: Path) -> Listener:
    return Listener(file)


@pytest.fixture
async def toolset(tmp_path: Path, listener: Listener):
    toolset = create_toolset(ToolOptions(cwd=tmp_path, before_change=listener), TOOL_NAMES)
    yield toolset
    await toolset.close()


async def call(toolset: Toolset, name: str, **arguments: Any) -> AgentToolResult:
    tool = next(tool for tool in toolset.tools if tool.name == name)
    return await resolved(tool.execute("c1", arguments, AbortSignal(), None, None))


EDIT: dict[str, Any] = {"path": "a.txt", "edits": [{"old_text": "before", "new_text": "after"}]}


@pytest.mark.parametrize(
    ("name", "arguments", "paths"),
    [
        ("write", {"path": "a.txt", "content": "after\n"}, ["a.txt"]),
        ("edit", EDIT, ["a.txt"]),
        ("bash", {"command": "echo after > a.txt"}, None),
    ],
)
async def test_a_call_that_changes_files_is_announced_once_before_it_does(
    toolset: Toolset, listener: Listener, file: Path, name: str, arguments: dict[str, Any], paths: list[str] | None
):
    await call(toolset, "read", path="a.txt")
    await call(toolset, name, **arguments)
    found = None if paths is None else tuple((file.parent / path).resolve() for path in paths)
    assert listener.changes == [FileChange("c1", name, found)]
    assert listener.contents == ["before\n"]
    assert file.read_text() == "after\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("read", {"path": "a.txt"}), ("ls", {}), ("grep", {"pattern": "before"}), ("find", {"pattern": "*.txt"})],
)
async def test_a_call_that_only_reads_is_not_announced(
    toolset: Toolset, listener: Listener, name: str, arguments: dict[str, Any]
):
    await call(toolset, name, **arguments)
    assert listener.changes == []


async def test_looking_after_a_job_is_not_announced(toolset: Toolset, listener: Listener):
    result = await call(toolset, "bash", command="sleep 60", background=True)
    await call(toolset, "bash", command="", job=result.details.job, kill=True)
    assert [change.tool_name for change in listener.changes] == ["bash"]


async def test_a_link_is_announced_as_the_file_that_changes(toolset: Toolset, listener: Listener, file: Path):
    (file.parent / "link").symlink_to(file)
    await call(toolset, "edit", **{**EDIT, "path": "link"})
    assert listener.changes == [FileChange("c1", "edit", (file.resolve(),))]


async def test_a_call_whose_announcement_fails_changes_nothing(toolset: Toolset, file: Path, tmp_path: Path):
    async def refuse(change: FileChange) -> None:
        raise ToolError("no room for a copy")

    tools = create_toolset(ToolOptions(cwd=tmp_path, before_change=refuse), ["edit"])
    with pytest.raises(ToolError, match="no room"):
        await call(tools, "edit", **EDIT)
    assert file.read_text() == "before\n"


@pytest.mark.parametrize(
    ("kind", "target", "paths"),
    [
        (ToolKind.OTHER, None, [None]),
        (ToolKind.EDIT, None, [None]),
        (ToolKind.EDIT, ToolTarget("path"), [("new.txt",)]),
        (ToolKind.EXECUTE, ToolTarget("path"), [None]),
        (ToolKind.READ, ToolTarget("path"), []),
        (ToolKind.FETCH, None, []),
    ],
)
async def test_a_tool_from_elsewhere_is_announced_by_what_it_declares(
    tmp_path: Path, listener: Listener, kind: ToolKind, target: ToolTarget | None, paths: list[tuple[str, ...] | None]
):
    def execute(*arguments: Any) -> AgentToolResult:
        return AgentToolResult(content=[TextContent("done")])

    tool = AgentTool(name="theirs", description="", parameters={}, execute=execute, kind=kind, target=target)
    added = added_tool(tool, ToolOptions(cwd=tmp_path, before_change=listener))
    result = await resolved(added.execute("c1", {"path": "new.txt"}, AbortSignal(), None, None))
    assert text_of(result.content) == "done"
    root = tmp_path.resolve()
    assert [change.paths for change in listener.changes] == [
        each and tuple(root / name for name in each) for each in paths
    ]
