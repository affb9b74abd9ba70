"""`agentcli rpc`."""

from typing import Annotated

from agentcli.cli import options
from agentcli.cli.declare import option


def rpc(
    model: options.Model = None,
    continue_: options.Continue = False,
    session: options.SessionReference = None,
    no_session: options.NoSession = False,
    cwd: options.Cwd = None,
    max_turns: options.MaxTurns = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    timeout: options.Timeout = None,
    permission_mode: options.Mode = None,
    sandbox: options.Sandbox = None,
    trust: options.Trust = False,
    schema: Annotated[bool, option("--schema", help="Print the JSON Schema of every message, and end.")] = False,
) -> int:
    """Let another program drive a session: commands as lines of JSON on stdin, responses and events on stdout.

    Each line ends with LF. A command is {"type": NAME, "id": ANYTHING, …}; its one response repeats the id. Without
    --permission-mode auto, calls wait for answer_permission. The end of stdin ends everything in order: exit 0. Limits
    are those of each prompt.
    """
    if schema:
        from agentcli.cli.rpc_schema import print_schema

        return print_schema()
    from msgspec.structs import replace

    from agentcli.agent.threads import run
    from agentcli.cli.runtime_options import runtime_options, with_limits
    from agentcli.headless.rpc.server import run_rpc

    asked = runtime_options(model, continue_, session, no_session, cwd, permission_mode, trust, sandbox)
    limited = with_limits(asked, max_turns, max_tokens, max_cost, timeout)
    return run(run_rpc(replace(limited, answers_permissions=True)))
