"""Assembly: the one place where a runtime is put together: folder, session, settings, model, tools, and then the agent.

Parts that the agent calls are made before it and given to it, with its state, its queues and its events. Nothing of it
is replaced later.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.agent import Agent, AgentState
from agentcli.agent.emitter import EventEmitter
from agentcli.agent.hooks import PrepareNextTurnContext
from agentcli.agent.loop_config import AgentConfig
from agentcli.agent.queues import MessageQueues
from agentcli.config.configuration import Configuration
from agentcli.config.credentials import hidden_variables, key_variables
from agentcli.config.masking import MaskedBytes, key_names, mask
from agentcli.config.paths import home, require_home, sessions_folder
from agentcli.config.settings import SandboxMode, Settings
from agentcli.config.variables import expand_variables
from agentcli.providers.catalog.catalog import Catalog
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.stream_client import StreamClient
from agentcli.runtime.additions import Additions
from agentcli.runtime.changed_files import ChangedFiles
from agentcli.runtime.chosen_model import ChosenModel
from agentcli.runtime.compaction.compactor import Compactor
from agentcli.runtime.compaction.summarizer import Summarizer
from agentcli.runtime.compaction.token_estimate import context_messages
from agentcli.runtime.compaction.window import Window
from agentcli.runtime.compaction.window_fit import WindowFit
from agentcli.runtime.event_queue import EventQueue
from agentcli.runtime.events import QueueUpdateEvent
from agentcli.runtime.known_keys import remember_keys
from agentcli.runtime.limits import Limits
from agentcli.runtime.masking import MaskedEvents, masked_tool
from agentcli.runtime.model_catalog import make_catalog, unknown_compat
from agentcli.runtime.model_choice import choose_model
from agentcli.runtime.model_requests import ModelRequests
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.prompt_runner import PromptRunner
from agentcli.runtime.recorder import SessionRecorder
from agentcli.runtime.refused_images import RefusedImages
from agentcli.runtime.resources.system_prompt import build_system_prompt
from agentcli.runtime.retry import Retry
from agentcli.runtime.session_opening import open_session
from agentcli.runtime.tool_sources import ToolSources
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.tools.toolset import ToolOptions, Toolset, create_toolset

if TYPE_CHECKING:
    from agentcli.tools.sandbox.sandbox import Sandbox


class Assembly(Struct, frozen=True):
    """The parts of a runtime, ready to work."""

    options: RuntimeOptions
    """With the settings that hold in the folder."""
    cwd: Path
    notices: list[str]
    """What the user should know before the first prompt, a line each."""
    catalog: Catalog
    tool_options: ToolOptions
    toolset: Toolset
    client: StreamClient
    additions: Additions
    recorder: SessionRecorder
    requests: ModelRequests
    summarizer: Summarizer
    window: Window
    compactor: Compactor
    model: ChosenModel
    files: ChangedFiles
    events: EventQueue
    sources: ToolSources
    agent: Agent
    runner: PromptRunner


def assemble(options: RuntimeOptions) -> Assembly:
    """Nothing is sent or written yet.

    Raises:
        UsageError, ConfigError, SessionError: what was asked for cannot be had.
    """
    if options.session.continue_ or (options.session.reference and "/" not in options.session.reference):
        require_home()
    session, cwd = open_session(options.session, JsonlSessionRepo(sessions_folder()))
    sandbox: Sandbox | None = None
    try:
        configuration = Configuration(settings=options.settings) if options.load is None else options.load(cwd)
        expanded = expand_variables(configuration.settings, configuration.origin)
        options = replace(options, settings=expanded.settings)
        sandbox = _sandbox(options, cwd)
        events = EventEmitter()
        additions = Additions(cwd, options, configuration.project, sandbox, events.emit)
        return _assemble(options, session, cwd, additions, events, expanded.secrets, expanded.problems)
    except BaseException:
        if sandbox is not None:
            sandbox.close()
        session.close()
        raise


def _assemble(
    options: RuntimeOptions,
    session: Session,
    cwd: Path,
    additions: Additions,
    events: EventEmitter,
    secrets: frozenset[str],
    problems: dict[str, str],
) -> Assembly:
    settings = options.settings
    context = session.build_context()
    catalog = make_catalog(settings, additions)
    hidden = hidden_variables(map(catalog.provider, [*settings.providers, *additions.api.providers])) | secrets
    remember_keys(settings, hidden)
    decision = choose_model(catalog, settings, options.model, context, options.thinking_level)
    tool_options = _tool_options(settings, cwd, hidden | key_names(), additions.sandbox)
    tool_options.image_input = "image" in decision.model.input
    toolset = create_toolset(tool_options, additions.tool_names(context.active_tool_names))
    tools = {tool.name: tool for tool in (*toolset.tools, *additions.added_tools(tool_options))}
    client = StreamClient(
        HttpClients(
            first_token_timeout_s=settings.first_token_timeout,
            idle_timeout_s=settings.idle_timeout,
            key_source=lambda name: " or ".join(key_variables(catalog.provider(name))),
        )
    )
    state = AgentState(
        model=decision.model,
        thinking_level=decision.thinking_level,
        # Known keys are masked in it as in all that is shown: a context file may hold one.
        system_prompt=mask(build_system_prompt(additions.prompt_parts())),
        tools=[masked_tool(tool) for tool in tools.values()],
        messages=context_messages(context),
    )
    toolset.files.known.recall = lambda: _seen_files(state)
    later = EventQueue(events.emit)

    def queue_changed() -> None:
        steering, follow_up = ([item.message for item in queue.items] for queue in (queues.steering, queues.follow_up))
        later.put(QueueUpdateEvent(steering, follow_up))

    async def should_stop_after_turn(ended: PrepareNextTurnContext) -> bool:
        await retry.end(success=True)
        limits.count_turn()
        return limits.stop(bool(ended.message.tool_calls) or bool(queues))

    queues = MessageQueues(settings.steering_mode, settings.follow_up_mode, queue_changed)
    sources = ToolSources(
        state, lambda tools: [masked_tool(tool) for tool in additions.added_tools(tool_options, tools)], events.emit
    )
    for source in additions.api.tool_sources:
        sources.attach(source)
    recorder = SessionRecorder(session, events.emit)
    retry = Retry(settings.retry, events.emit)
    requests = ModelRequests(catalog, client, additions.api.stream_fns, options.stream_fn, problems)
    images = RefusedImages(session, additions.convert_to_llm)
    window = Window(state, settings.compaction)
    fit = WindowFit(window, images.convert_to_llm, events.emit)
    summarizer = Summarizer(state, requests, events.emit, settings.retry)
    compactor = Compactor(state, queues, events.emit, recorder, summarizer, settings.compaction, window, fit)
    model = ChosenModel(state, session, context, decision.wanted_level, catalog, settings, tool_options, later.put)
    limits = Limits(options)
    files = ChangedFiles(cwd)
    additions.open_gate(home() / "spill", toolset.files.judged)
    # In this order: what others are told of has been written.
    for listener in (recorder.on_event, *additions.listeners(), compactor.on_event, limits.on_event, files.on_event):
        events.subscribe(listener)
    agent = Agent(
        state=state,
        stream_function=requests.stream,
        config=AgentConfig(
            session_id=session.id,
            convert_to_llm=fit.convert_to_llm,
            get_api_key=requests.key_for,
            before_tool_call=additions.before_tool_call,
            after_tool_call=additions.after_tool_call,
            prepare_request=model.prepare_request,
            prepare_next_turn=compactor.prepare_next_turn,
            should_stop_after_turn=should_stop_after_turn,
            filter_events=MaskedEvents(),
        ),
        queues=queues,
        events=events,
    )
    runner = PromptRunner(
        agent, options, additions, sources, recorder, requests, retry, compactor, model, images, limits, toolset
    )
    notices = [*settings.warnings, *unknown_compat(settings), *session.storage.notices, *additions.notices]
    if additions.sandbox is not None:
        notices.append(f"commands run in a sandbox: {additions.sandbox.describe()}")
    if decision.notice:
        notices.append(decision.notice)
    return Assembly(
        options=options,
        cwd=cwd,
        notices=notices,
        catalog=catalog,
        tool_options=tool_options,
        toolset=toolset,
        client=client,
        additions=additions,
        recorder=recorder,
        requests=requests,
        summarizer=summarizer,
        window=window,
        compactor=compactor,
        model=model,
        files=files,
        events=later,
        sources=sources,
        agent=agent,
        runner=runner,
    )


def _seen_files(state: AgentState) -> Iterable[tuple[str, int]]:
    from agentcli.runtime.seen_files import seen_files  # for the first write over a file that the tools have not met

    return seen_files(list(state.messages))


def _tool_options(settings: Settings, cwd: Path, hidden: frozenset[str], sandbox: "Sandbox | None") -> ToolOptions:
    return ToolOptions(
        cwd=cwd,
        hidden_env=hidden.difference(settings.keep_keys),
        extra_env={**settings.environment, "AI_AGENT": "agentcli"},
        shell=_shell(settings.shell, cwd),
        bash_timeout_s=settings.bash_timeout,
        spill_dir=home() / "spill",
        kept_output=MaskedBytes,
        sandbox=sandbox,
    )


def _sandbox(options: RuntimeOptions, cwd: Path) -> "Sandbox | None":
    """The sandbox that was asked for, ready. Raises ConfigError if there can be none."""
    settings = options.settings.sandbox
    mode = options.sandbox or settings.mode
    if mode == SandboxMode.OFF:
        return None
    from agentcli.runtime.sandboxing import sandbox_policy
    from agentcli.tools.sandbox.sandbox import Sandbox

    return Sandbox(
        sandbox_policy(mode, settings, cwd, options.settings.permissions.deny),
        home() / "spill" / f"agentcli-{os.urandom(12).hex()}",
    )


def _shell(name: str | None, cwd: Path) -> Path | None:
    """A bare name is looked for in PATH; a path starts in the working directory."""
    if name is None:
        return None
    return cwd / Path(name).expanduser() if "/" in name else Path(name)
