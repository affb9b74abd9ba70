"""Foundation: what a runtime stands on, opened and chosen: folder, session, settings, model, tools, additions."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.agent import Agent
from agentcli.agent.models import ThinkingLevel
from agentcli.config import key_store
from agentcli.config.configuration import Configuration, load_configuration
from agentcli.config.credentials import hidden_variables, key_variables
from agentcli.config.masking import MaskedBytes, key_names, mask, password_in, remember_environment, remember_key
from agentcli.config.paths import home, require_home, sessions_folder
from agentcli.config.settings import SandboxMode, Settings
from agentcli.config.variables import expand_variables
from agentcli.providers.catalog.catalog import Catalog
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.stream_client import StreamClient
from agentcli.runtime.additions import Additions
from agentcli.runtime.compaction.token_estimate import context_messages
from agentcli.runtime.masking import masked_tool
from agentcli.runtime.model_choice import choose_model
from agentcli.runtime.options import RuntimeOptions
from agentcli.runtime.recorder import SessionRecorder
from agentcli.runtime.resources.system_prompt import build_system_prompt
from agentcli.runtime.session_opening import open_session
from agentcli.sessions.context import SessionContext
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from agentcli.tools.toolset import ToolOptions, Toolset, create_toolset

if TYPE_CHECKING:
    from agentcli.tools.sandbox.sandbox import Sandbox

_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.I)


class Assembly(Struct):
    options: RuntimeOptions
    """With the settings that hold in the folder."""
    agent: Agent
    recorder: SessionRecorder
    context: SessionContext
    wanted_level: ThinkingLevel
    """How much thinking is asked for; the agent's level is what the model does of it."""
    catalog: Catalog
    tool_options: ToolOptions
    toolset: Toolset
    client: StreamClient
    additions: Additions
    cwd: Path
    notices: list[str]
    problems: dict[str, str] = {}
    """By provider or `provider/id`: what of its settings makes it impossible to ask it."""


def assemble(options: RuntimeOptions) -> Assembly:
    """Nothing is sent or written yet.

    Raises:
        UsageError, ConfigError, SessionError: what was asked for cannot be had.
    """
    if options.session.continue_ or (options.session.reference and "/" not in options.session.reference):
        require_home()
    session, cwd = open_session(options.session, JsonlSessionRepo(sessions_folder()))
    try:
        return _lay(options, session, cwd)
    except BaseException:
        session.close()
        raise


def _lay(options: RuntimeOptions, session: Session, cwd: Path) -> Assembly:
    configuration = Configuration(settings=options.settings) if options.load is None else options.load(cwd)
    expanded = expand_variables(configuration.settings, configuration.origin)
    settings = expanded.settings
    options = replace(options, settings=settings)
    additions = Additions(cwd, options, settings, configuration.project)
    context = session.build_context()
    catalog = make_catalog(settings, additions)
    hidden = hidden_variables(map(catalog.provider, [*settings.providers, *additions.api.providers]))
    hidden |= expanded.secrets
    _know_keys(settings, hidden)
    decision = choose_model(catalog, settings, options.model, context, options.thinking_level)
    tool_options = _tool_options(settings, cwd, hidden | key_names())
    tool_options.image_input = "image" in decision.model.input
    tool_options.sandbox = additions.sandbox = _sandbox(options, cwd)
    toolset = create_toolset(tool_options, additions.tool_names(context.active_tool_names))
    tools = {tool.name: tool for tool in toolset.tools} | additions.added_tools()
    client = StreamClient(
        HttpClients(
            first_token_timeout_s=settings.first_token_timeout,
            idle_timeout_s=settings.idle_timeout,
            key_source=lambda name: " or ".join(key_variables(catalog.provider(name))),
        )
    )
    agent = Agent(
        model=decision.model,
        thinking_level=decision.thinking_level,
        stream_function=client,
        # Known keys are masked in it as in all that is said: a context file may hold one.
        system_prompt=mask(build_system_prompt(additions.prompt_parts())),
        tools=[masked_tool(tool) for tool in tools.values()],
        messages=context_messages(context),
        steering_mode=settings.steering_mode,
        follow_up_mode=settings.follow_up_mode,
        session_id=session.id,
    )
    recorder = SessionRecorder(agent, session)
    additions.attach(agent, home() / "spill", toolset.files.judged)
    toolset.files.known.recall = lambda: _seen_files(agent)
    notices = [*settings.warnings, *unknown_compat(settings), *session.storage.notices, *additions.notices]
    if additions.sandbox is not None:
        notices.append(f"commands run in a sandbox: {additions.sandbox.describe()}")
    if decision.notice:
        notices.append(decision.notice)
    return Assembly(
        options,
        agent,
        recorder,
        context,
        decision.wanted_level,
        catalog,
        tool_options,
        toolset,
        client,
        additions,
        cwd,
        notices,
        expanded.problems,
    )


def _seen_files(agent: Agent) -> Iterable[tuple[str, int]]:
    from agentcli.runtime.seen_files import seen_files  # for the first write over a file that the tools have not met

    return seen_files(list(agent.state.messages))


def _tool_options(settings: Settings, cwd: Path, hidden: frozenset[str]) -> ToolOptions:
    return ToolOptions(
        cwd=cwd,
        hidden_env=hidden.difference(settings.keep_keys),
        extra_env={**settings.environment, "AI_AGENT": "agentcli"},
        shell=_shell(settings.shell, cwd),
        bash_timeout_s=settings.bash_timeout,
        spill_dir=home() / "spill",
        kept_output=MaskedBytes,
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
    """A bare name is looked for in PATH; a path starts in the working folder."""
    if name is None:
        return None
    return cwd / Path(name).expanduser() if "/" in name else Path(name)


def catalog_in(cwd: Path) -> tuple[Catalog, list[str]]:
    """The catalog as a run in this folder would have it, and what the person should know."""
    configuration = load_configuration(cwd)
    settings = expand_variables(configuration.settings, configuration.origin).settings
    additions = Additions(cwd, RuntimeOptions(settings=settings), settings, configuration.project)
    return make_catalog(settings, additions), [*settings.warnings, *unknown_compat(settings), *additions.notices]


def unknown_compat(settings: Settings) -> list[str]:
    """A line for each key of a `compat` table that nothing reads."""
    tables: dict[str, Any] = {f"providers.{name}": each.overrides() for name, each in settings.providers.items()}
    tables |= {f'models."{name}"': fields for name, fields in settings.models.items()}
    odd = {name: fields["compat"] for name, fields in tables.items() if isinstance(fields.get("compat"), dict)}
    if not odd:
        return []
    from agentcli.providers.catalog.compat import unknown_compat_keys  # 2 ms, for those who have such a table

    return [f"unknown key {name}.compat.{key}; it is ignored" for name in odd for key in unknown_compat_keys(odd[name])]


def make_catalog(settings: Settings, additions: Additions) -> Catalog:
    """Providers and models: those of the catalog, of extensions, and what the settings say of all of them."""
    added = additions.api
    models = {full_id: _listed(model) for full_id, model in added.models.items()}
    return Catalog({**added.providers, **settings.provider_overrides()}, {**models, **settings.models})


def _listed(model: Struct) -> dict[str, object]:
    """A model as a table of the settings has it."""
    fields = ((name, getattr(model, name)) for name in model.__struct_fields__)
    return {name: value for name, value in fields if name not in ("id", "provider")}


def _know_keys(settings: Settings, variables: frozenset[str]) -> None:
    """Make known to `masking` what is secret in the environment, in `auth.toml` and in the settings."""
    remember_environment(variables)
    for key in key_store.keys_in_file():
        remember_key(key)
    for provider in settings.providers.values():
        fields = provider.overrides()
        remember_key(password_in(fields.get("base_url", "")))
        remember_key(fields.get("api_key", ""))
        _know_headers(fields.get("headers", {}))
    for model in settings.models.values():
        _know_headers(model.get("headers", {}))


def _know_headers(headers: object) -> None:
    for name, value in headers.items() if isinstance(headers, dict) else ():
        if _SECRET_HEADER.search(name) and isinstance(value, str):
            remember_key(value)
            remember_key(value.rpartition(" ")[2])
