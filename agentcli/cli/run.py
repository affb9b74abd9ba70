"""`agentcli run`."""

from typing import Annotated

from agentcli.cli import options
from agentcli.cli.declare import Argument
from agentcli.headless.output_format import OutputFormat


def run(
    prompt: Annotated[
        list[str] | None, Argument(metavar="[PROMPT | @FILE]...", help="What to do; @FILE attaches a file.")
    ] = None,
    model: options.Model = None,
    continue_: options.Continue = False,
    session: options.SessionReference = None,
    no_session: options.NoSession = False,
    cwd: options.Cwd = None,
    output: options.Output = OutputFormat.TEXT,
    schema: options.Schema = None,
    max_turns: options.MaxTurns = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    timeout: options.Timeout = None,
    permission_mode: options.Mode = None,
    sandbox: options.Sandbox = None,
    trust: options.Trust = False,
) -> int:
    """Work once on a prompt: the answer on stdout, the rest on stderr.

    What is piped in comes before the prompt. Exit codes: 0 done; 1 the agent or the provider failed; 2 usage,
    configuration or credentials; 3 stopped by a limit; 75 failed, but worth trying again; 128 + the signal's number.

    Limits are looked at after each answer, --timeout at any time; the session is sound and can be continued.

    --schema understands JSON Schema 2020-12 but for unevaluatedItems, unevaluatedProperties, dynamic references and
    references to other files; format is no check. An answer that does not fit goes back to the model, three times at
    most.
    """
    from agentcli.agent.threads import run as run_loop
    from agentcli.cli.runtime_options import runtime_options, with_limits
    from agentcli.headless.run import RunOptions, run_once, told_shortage

    asked = runtime_options(model, continue_, session, no_session, cwd, permission_mode, trust, sandbox)
    limited = with_limits(asked, max_turns, max_tokens, max_cost, timeout)
    code = run_loop(run_once(prompt or [], RunOptions(runtime=limited, output=output, schema=schema)))
    return told_shortage(code)
