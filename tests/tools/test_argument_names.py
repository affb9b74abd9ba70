"""Names that models give to arguments: taken where they are clear, refused where they contradict each other."""

from pathlib import Path
from typing import Any

import pytest

from tests.tools.conftest import Tools

PAIR = {"old_text": "one", "new_text": "two"}
CONTRADICTIONS: list[tuple[str, dict[str, Any]]] = [
    ("edit", {"path": "a.txt", "edits": [PAIR], "old_text": "one", "new_text": "three"}),
    ("edit", {"path": "a.txt", "edits": [PAIR], "old_string": "end", "new_string": "END"}),
    ("edit", {"path": "a.txt", "edits": [PAIR], "new_text": "three"}),
    ("edit", {"path": "a.txt", "edits": f"[{PAIR}]".replace("'", '"'), "find": "end", "replacement": "END"}),
    ("edit", {"path": "a.txt", "edits": [PAIR], "changes": [{"old_text": "end", "new_text": "END"}]}),
    ("edit", {"path": "a.txt", "edits": [PAIR | {"old_string": "end"}]}),
    ("edit", {"path": "a.txt", "edits": [PAIR | {"replace_all": False}], "replace_all": True}),
    ("edit", {"path": "a.txt", "file_path": "b.txt", "edits": [PAIR]}),
    ("edit", {"file_path": "a.txt", "filename": "b.txt", **PAIR}),
    ("write", {"path": "b.txt", "file_path": "c.txt", "content": "x"}),
    ("write", {"path": "b.txt", "content": "x", "text": "y"}),
    ("read", {"path": "a.txt", "file": "b.txt"}),
    ("ls", {"path": ".", "directory": "sub"}),
    ("find", {"pattern": "*.py", "glob": "*.txt"}),
    ("grep", {"pattern": "one", "path": ".", "file_path": "a.txt"}),
    ("grep", {"pattern": "one", "ignore_case": True, "ignoreCase": False}),
    ("bash", {"command": "touch b.txt", "kill": True}),
    ("bash", {"job": "1", "background": True}),
]


@pytest.mark.parametrize(("tool", "arguments"), CONTRADICTIONS)
async def test_arguments_that_contradict_each_other_are_refused_in_one_line(
    tools: Tools, cwd: Path, tool: str, arguments: dict[str, Any]
) -> None:
    (cwd / "a.txt").write_text("one\nend\n")
    answer = await tools(tool, arguments)
    assert answer.is_error
    assert "nothing was" in answer.text
    assert "\n" not in answer.text
    assert sorted(path.name for path in cwd.iterdir()) == ["a.txt"]
    assert (cwd / "a.txt").read_text() == "one\nend\n"


@pytest.mark.parametrize("more", [
    PAIR,
    {"old_text": "one"},
    {"old_string": "", "new_string": ""},
    {"old_text": None, "new_text": None, "replace_all": None},
    {"file_path": "a.txt", "filename": None},
    {"changes": [PAIR]},
])  # fmt: skip
async def test_the_same_said_twice_and_fields_left_empty_are_no_contradiction(
    tools: Tools, cwd: Path, more: dict[str, Any]
) -> None:
    (cwd / "a.txt").write_text("one\nend\n")
    answer = await tools("edit", {"path": "a.txt", "edits": [PAIR], **more})
    assert not answer.is_error, answer.text
    assert (cwd / "a.txt").read_text() == "two\nend\n"
