"""An extension with a permission policy: nothing is committed or pushed while the branch is `main`."""

import subprocess

from agentcli.agent.hooks import BeforeToolCallResult
from agentcli.runtime.permissions.command_parts import parse_command


def register(api):
    def branch():
        command = ["git", "symbolic-ref", "--short", "HEAD"]
        return subprocess.run(command, cwd=api.cwd, capture_output=True, text=True, check=True).stdout.strip()

    @api.before_tool_call
    def check(context, signal):
        if context.tool_call.name != "bash":
            return None
        parts = parse_command(context.args["command"]).parts
        changes = [part.text for part in parts if part.words[:2] in (["git", "commit"], ["git", "push"])]
        if changes and branch() == "main":
            return BeforeToolCallResult(block=True, reason=f"Not on main: {changes[0]}. Make a branch first.")
        return None
