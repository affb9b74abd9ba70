"""Configuration: all sources of settings merged, by precedence: environment, project files, user file, defaults.

Options of the command line take precedence over all of them; they are arguments of what they concern. Tables are merged
key by key. Permission rules add up, so that no source can take back what another one denies.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentcli.agent.errors import ConfigError
from agentcli.agent.tables import merge_tables, value_at
from agentcli.config.declaration import PREFIX, declared_keys
from agentcli.config.load import build_settings, parse_settings, read_settings
from agentcli.config.paths import HOME_VARIABLE, SETTINGS_NAME, config_file, home_problem
from agentcli.config.project import Project, read_project
from agentcli.config.settings import Settings

_PARTS = re.compile(r'("(?:[^"\\]|\\.)*")|([^."]+)')
"""The parts of a dotted key."""


class Source(Struct, frozen=True):
    """Something that sets settings."""

    name: str
    """The path of a file, or `environment`."""
    table: dict[str, Any]
    variables: dict[str, str] = {}
    """The variable that sets each dotted key, of the environment."""
    line_of: Callable[[str], int] | None = None
    """Finds the line that sets a dotted key, of a file."""

    def origin(self, key: str) -> str:
        """Where it sets a dotted key: `FILE:LINE`, or a variable."""
        return self.variables.get(key, self.name) if self.line_of is None else f"{self.name}:{self.line_of(key)}"


class Configuration(Struct, frozen=True, kw_only=True):
    """The settings that apply in a directory, and where they come from."""

    settings: Settings = Settings()
    sources: list[Source] = []
    """Lowest precedence first."""
    project: Project = Project()
    untrusted: str | None = None
    """The warning about what of the project is ignored because it is not trusted."""

    def origin(self, key: str) -> str:
        """Where a dotted key is set: `FILE:LINE`, a variable, or `default`."""
        for source in reversed(self.sources):
            if value_at(source.table, _path(key)) is not None:
                return source.origin(key)
        return "default"


def load_configuration(
    cwd: Path, *, trust: bool = False, lenient: bool = False, environment: Mapping[str, str] = os.environ
) -> Configuration:
    """Read all sources of settings for a directory.

    Args:
        cwd: the directory.
        trust: trust the project's files as they are, for this call.
        lenient: a broken user file is a warning, and its settings are at their defaults.
        environment: the environment variables.

    Raises:
        ConfigError: a file or a variable is invalid. A project file that is not trusted is never the cause.
    """
    problem = home_problem()
    warnings = [f"{problem}; settings are at their defaults, and no session is stored"] if problem else []
    sources: list[Source] = []
    try:
        user = read_settings(config_file())
    except ConfigError as error:
        if not lenient:
            raise
        user = None
        warnings.append(f"{error}; the defaults are used")
    if user is not None:
        warnings += user.settings.warnings
        sources.append(Source(str(user.path), user.table, line_of=user.line_of))
    project = read_project(cwd, trust=trust)
    warnings += project.notices
    project_sources, untrusted = _project_sources(project, cwd, sources, warnings)
    sources += project_sources
    sources += _environment_source(environment, sources, warnings)
    if not sources:
        return Configuration(settings=Settings(warnings=warnings), project=project, untrusted=untrusted or None)
    if user is not None and len(sources) == 1:
        settings = user.settings
    else:
        settings = build_settings(_merge(sources), lambda key, problem: ConfigError(f"{key}: {problem}"))
    settings = replace(settings, warnings=warnings)
    return Configuration(settings=settings, sources=sources, project=project, untrusted=untrusted or None)


def _project_sources(
    project: Project, cwd: Path, before: list[Source], warnings: list[str]
) -> tuple[list[Source], str]:
    """The sources of a project, and the warning about what of it is ignored; empty if nothing is."""
    if not project.files and not project.rules:
        return [], ""
    from agentcli.config.project_settings import placed, tightened  # only with such files

    sources: list[Source] = []
    ignored: dict[Path, list[str]] = {}
    problem = ""
    for file in project.settings:
        try:
            parsed = parse_settings(file.data, file.path)
        except ConfigError as error:
            if file.trusted:
                raise
            problem = f"{error.message}; nobody has trusted the file, so it is ignored"
            warnings.append(problem)
            continue
        table = placed(parsed.table, file.path.parent, cwd)
        if file.trusted:
            warnings += parsed.settings.warnings
        else:
            table, keys = tightened(table, _merge([*before, *sources]))
            ignored[file.path] = keys
        sources.append(Source(str(file.path), table, line_of=parsed.line_of))
    sources += _kept_sources(project, warnings)
    for file in project.files:
        if not file.trusted and file.name != SETTINGS_NAME:
            ignored[file.path] = [file.name]
    told = {path: keys for path, keys in ignored.items() if keys}
    if told:
        keys = dict.fromkeys(key for keys in told.values() for key in keys)
        problem = (
            f"{next(iter(told))} is not trusted, so it cannot set {', '.join(keys)} (to look at it: agentcli trust)"
        )
        warnings.append(problem)
    return sources, problem


def _kept_sources(project: Project, warnings: list[str]) -> list[Source]:
    """The deny and ask rules of trusted files that have changed or are gone."""
    from agentcli.config.project_settings import place_of

    sources: list[Source] = []
    there = {place_of(file.path) for file in project.settings if file.trusted}
    for path, rules in project.rules.items():
        if path not in there:
            warnings.append(
                f"{path} is changed, gone or of another repository; what it denied and asked when it was trusted still "
                "holds (agentcli trust looks at it, agentcli trust --remove forgets it)"
            )
            sources.append(Source(str(path), {"permissions": {"deny": rules.deny, "ask": rules.ask}}))
    return sources


def _environment_source(environment: Mapping[str, str], files: list[Source], warnings: list[str]) -> list[Source]:
    given = {name: value for name, value in environment.items() if name.startswith(PREFIX) and value}
    given.pop(HOME_VARIABLE, None)
    if not given:
        return []
    from agentcli.config.environment import read_environment  # only with such a variable

    table, variables = read_environment(given, _merge(files), warnings)
    return [Source("environment", table, variables)] if table else []


def _merge(sources: list[Source]) -> dict[str, Any]:
    adding = {tuple(key.split(".")) for key, each in declared_keys(Settings).items() if each.adds_up}
    merged: dict[str, Any] = {}
    for source in sources:
        merged = merge_tables(merged, source.table, adding)
    return merged


def _path(key: str) -> list[str]:
    return [msgspec.json.decode(quoted) if quoted else bare for quoted, bare in _PARTS.findall(key)]
