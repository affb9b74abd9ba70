"""A new kind of entry is a class in `entries.py` and a method of `Session`; the type checker names what it misses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "agentcli"
PYRIGHT = Path(sys.executable).with_name("pyright")

KIND = '''
class {name}(TreeEntry, {role}, frozen=True, kw_only=True, gc=False, tag_field="type", tag="{tag}"):
    """The state of the files."""

    commit: str
'''
DESCRIBE = '''
    def describe(self) -> str:
        """The commit as one printable line."""
        return one_line(f"checkpoint: {self.commit}")
'''
APPEND = '''
    def append_checkpoint(self, commit: str) -> str:
        """The files are as in this commit."""
        return self._append(CheckpointEntry(**self._base(), commit=commit))
'''
USE = """
from pathlib import Path
from agentcli.agent.messages import user_message
from agentcli.sessions.export.export import export_session
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.tree import tree_lines

repo = JsonlSessionRepo(Path("sessions"))
session = repo.create(Path.cwd())
session.append_message(user_message("hello"))
id = session.append_checkpoint("c0ffee")
session.close()
session = repo.read(session.storage.path)
assert session.leaf_id == id and session.get_entry(id).commit == "c0ffee"
assert [line.head.type for line in tree_lines(session.storage)] == ["message", "checkpointentry"]
assert len(session.build_context().messages) == 1
assert session.get_stats().entry_count == 2
assert "checkpoint: c0ffee" in export_session(session, "html")
assert "c0ffee" not in export_session(session, "markdown")
assert '"commit":"c0ffee"' in export_session(session, "jsonl")
"""


def declared(name: str, role: str) -> str:
    """The code of a kind, without `describe`."""
    return KIND.format(name=name, role=role, tag=name.lower())


MISSED = {
    "NewDataEntry": set[str](),
    "NewSettingEntry": {"context.py"},
    "NewMarkEntry": {"storage.py"},
    "NewContextEntry": {"context.py", "plan.py", "html.py", "markdown.py", "stats.py"},
    "Mute": {"html.py"},
}
"""The modules that the type checker names for a kind that declares nothing but its role and `describe`; for `Mute`, not
even that."""


def copy_with(kinds: dict[str, str], place: Path) -> Path:
    """A copy of the package with more kinds of entries, given as code by their names. Returns its `sessions`."""
    package = shutil.copytree(PACKAGE, place / "agentcli", ignore=shutil.ignore_patterns("__pycache__"))
    entries = package / "sessions/entries.py"
    code, union = "\n".join(kinds.values()), "".join(f"    {name} |\n" for name in kinds)
    entries.write_text(entries.read_text().replace("\nKnownEntry = (\n", f"{code}\n\nKnownEntry = (\n{union}"))
    return package / "sessions"


def test_a_new_kind_is_stored_drawn_and_exported(tmp_path: Path):
    sessions = copy_with({"CheckpointEntry": declared("CheckpointEntry", "DataEntry") + DESCRIBE}, tmp_path)
    code = (sessions / "session.py").read_text().replace("\n    def append_label", f"{APPEND}\n    def append_label")
    code = code.replace("    CompactionEntry,\n", "    CheckpointEntry,\n    CompactionEntry,\n", 1)
    (sessions / "session.py").write_text(code)
    subprocess.run([sys.executable, "-c", USE], cwd=tmp_path, check=True, env={"PYTHONPATH": str(tmp_path)})


@pytest.mark.skipif(not PYRIGHT.exists(), reason="pyright is not installed")
def test_the_type_checker_names_what_a_new_kind_misses(tmp_path: Path):
    roles = {name: declared(name, name.removeprefix("New")) for name in MISSED if name != "Mute"}
    kinds = {name: code + DESCRIBE for name, code in roles.items()}
    sessions = copy_with({**kinds, "Mute": declared("Mute", "DataEntry")}, tmp_path)
    command = [PYRIGHT, "--outputjson", "--pythonpath", sys.executable, sessions]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    missed: dict[str, set[str]] = {name: set() for name in MISSED}
    for diagnostic in json.loads(found.stdout)["generalDiagnostics"]:
        for name in MISSED:
            if f'"{name}' in diagnostic["message"] or f" {name}" in diagnostic["message"]:
                missed[name].add(Path(diagnostic["file"]).name)
    assert missed == MISSED
