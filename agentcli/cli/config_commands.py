"""The commands `agentcli config …`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from agentcli.agent.errors import ConfigError, UsageError
from agentcli.agent.text import printable
from agentcli.config.configuration import Configuration, load_configuration
from agentcli.config.declaration import declared, settings_schema
from agentcli.config.masking import is_key_name, mask
from agentcli.config.paths import config_file, make_private
from agentcli.config.settings import Settings
from agentcli.runtime.session_choice import working_folder

HIDDEN = "…"
"""Printed in place of what may be secret."""
_OTHER_EDITOR = "set external_editor in the config, VISUAL or EDITOR"


def print_settings(*, origin: bool, cwd: Path | None, trust: bool) -> None:
    """Print every setting; with `origin`, where each is set."""
    configuration = _load(cwd, trust=trust)
    for key, value in _flat(_plain(configuration.settings)):
        line = f"{key} = {_shown(key, value)}"
        print(_clean(f"{line:<48}  # {configuration.origin(key)}" if origin else line))


def print_setting(key: str, *, cwd: Path | None, trust: bool) -> None:
    """Print a setting, or those in a table. Raises UsageError if there is none of this key."""
    from agentcli.config.edit import split_key

    value: Any = _plain(_load(cwd, trust=trust).settings)
    for part in split_key(key):
        if not isinstance(value, dict) or part not in value:
            raise UsageError(f"there is no setting {key}", hint="agentcli config show lists them")
        value = value[part]
    if isinstance(value, dict):
        for inner, leaf in _flat(value, f"{key}."):
            print(_clean(f"{inner} = {_shown(inner, leaf)}"))
    elif value is not None:
        print(_clean(value if isinstance(value, str) and _safe(key, value) == value else _shown(key, value)))


def change_setting(key: str, value: str) -> None:
    """Set a key in the user's file."""
    from agentcli.config.edit import set_key

    set_key(key, value)
    print(_clean(f"{key} is set in {config_file()}"))


def edit_settings() -> int:
    """Open the user's file in an editor, and validate it afterwards. Returns the exit code."""
    import subprocess

    from agentcli.config.editor_command import editor_command

    editor = editor_command(_external_editor())
    path = config_file()
    make_private(path.parent)
    if not path.exists():
        path.touch(mode=0o600)
    try:
        code = subprocess.run([*editor, str(path)], check=False).returncode
    except OSError as error:
        raise UsageError(f"the editor {editor[0]} cannot be started: {error.strerror}", hint=_OTHER_EDITOR) from None
    if code:
        raise UsageError(f"the editor {editor[0]} ended with exit code {code}", hint=_OTHER_EDITOR)
    return validate_settings(None)


def _external_editor() -> str | None:
    try:
        return load_configuration(working_folder(None), lenient=True).settings.external_editor
    except ConfigError:
        return None  # the file is validated after editing


def validate_settings(cwd: Path | None) -> int:
    """Print what is wrong with each source. Returns the exit code."""
    from agentcli.runtime.model_catalog import unknown_compat  # slow to import, and only needed here

    configuration = load_configuration(working_folder(cwd))
    warnings = [*configuration.settings.warnings, *unknown_compat(configuration.settings)]
    for warning in warnings:
        print(_clean(warning))
    for source in configuration.sources:
        print(_clean(f"{source.name}: fine"))
    if not configuration.sources:
        print("nothing is set; all settings are at their defaults")
    return 2 if any(warning != configuration.untrusted for warning in warnings) else 0


def print_schema() -> None:
    """Print the JSON Schema of a config file."""
    print(msgspec.json.format(msgspec.json.encode(settings_schema(Settings))).decode())


def print_prompt(*, short: bool, cwd: Path | None, trust: bool) -> None:
    """Print the parts of the system prompt; with `short`, only their names and sizes."""
    from agentcli.runtime.prompt_report import report_prompt

    folder = working_folder(cwd)
    report = report_prompt(load_configuration(folder, trust=trust), folder)
    for notice in report.notices:
        print(_clean(f"agentcli: {notice}"), file=sys.stderr)
    for part in report.parts:
        print(_clean(f"{part.tokens:>6}  {part.name}" if short else f"── {part.name}: {part.tokens} tokens"))
        if not short:
            print(_clean(f"{part.text}\n"))
    total = sum(part.tokens for part in report.parts)
    print(f"{total:>6}  in all" if short else f"── in all: {total} tokens")


def _load(cwd: Path | None, *, trust: bool) -> Configuration:
    configuration = load_configuration(working_folder(cwd), trust=trust)
    for warning in configuration.settings.warnings:
        print(_clean(f"agentcli: {warning}"), file=sys.stderr)
    return configuration


def _plain(settings: Settings) -> dict[str, Any]:
    return {key: value for key, value in msgspec.to_builtins(settings).items() if key in declared(Settings)}


def _flat(table: dict[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = key if key.replace("_", "").replace("-", "").isalnum() else msgspec.json.encode(key).decode()
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{place}{name}.")
        else:
            yield place + name, value


def _shown(key: str, value: Any) -> str:
    return "(not set)" if value is None else msgspec.json.encode(_safe(key, value)).decode()


def _safe(key: str, value: Any) -> Any:
    """The value, without what may be secret in it."""
    if not isinstance(value, str):
        return value
    table, _, name = key.replace('"', "").rpartition(".")
    is_key = name == "api_key" and not value.startswith("$")
    if is_key or name == "api_key_command" or ".headers" in table or (table == "environment" and is_key_name(name)):
        return HIDDEN
    if name != "base_url":
        return value
    from agentcli.providers.catalog.endpoint import shown_url  # only with such a setting

    return shown_url(value)


def _clean(text: str) -> str:
    return mask(printable(text))
