"""Whatever a command looks like, it gets a verdict. `tests/torture/commands.py` holds verdicts against a real bash."""

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agentcli.config.settings import PermissionMode, PermissionSettings
from agentcli.runtime.permissions.command_parts import parse_command
from agentcli.runtime.permissions.permissions import Permissions
from tests.runtime.declared_tools import declared_tool
from tests.torture.commands import random_command

LOOKS = {
    "echo", "pwd", "true", "false", "exit", "ls", "cat", "head", "tail", "wc", "stat", "du", "basename", "dirname", "cd",
    "[", "test", "tr", "cut", "nl", "rev", "tac", "grep", "egrep", "fgrep",
}  # fmt: skip


@given(
    command=st.one_of(
        st.integers(min_value=0).map(lambda seed: random_command(random.Random(seed))),
        st.text(max_size=60),
        st.text(alphabet="ab '\"$(){}[]|&;<>\\`\n#*?=!~-/", max_size=40),
    )
)
def test_every_text_gets_a_verdict_and_none_that_holds_a_command_is_simply_allowed(command: str):
    judge = Permissions(PermissionMode.ASK, PermissionSettings(), Path("/"))
    verdict = judge.judge(declared_tool("bash"), {"command": command}).verdict
    assert verdict in ("allow", "ask")
    parsed = parse_command(command)
    if any(part.words[0] not in LOOKS for part in parsed.parts) or parsed.unclear:
        assert verdict == "ask"
