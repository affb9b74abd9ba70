"""The environment as a source of settings: `AGENTCLI_BASH_TIMEOUT=10`, `AGENTCLI_TOOLS=read,ls`.

Two underscores stand between tables: `AGENTCLI_RETRY__MAX_RETRIES=0`. A name that the user chooses (a provider, a
model, an action, a header) is matched with those in files, ignoring case, and with `_` for characters that a variable's
name cannot contain. One that is in no file is used in lower case, or as written if it is not all upper case.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from agentcli.agent.errors import ConfigError
from agentcli.agent.models import Model
from agentcli.agent.tables import value_at
from agentcli.config.declaration import PREFIX, declared, declared_keys, variable_of
from agentcli.config.load import explain
from agentcli.config.settings import Settings, dotted_key


def read_environment(
    given: Mapping[str, str], known: Mapping[str, Any], warnings: list[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Read settings from variables.

    Args:
        given: the variables that begin with `PREFIX`.
        known: the merged tables of the files.
        warnings: receives a line for each variable that sets nothing.

    Returns:
        The table that they set, and the variable of each dotted key.

    Raises:
        ConfigError: a variable's value is invalid, or it may set one of several keys.
    """
    keys = {variable_of(key): key for key, each in declared_keys(Settings).items() if not each.is_table}
    table: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, text in given.items():
        key = keys.get(name)
        path = key.split(".") if key is not None else _path_in_table(name, known)
        if path is None:
            warnings.append(f"{name}: there is no such setting; the variable is ignored")
            continue
        target = table
        for part in path[:-1]:
            target = target.setdefault(part, {})
            if not isinstance(target, dict):
                raise ConfigError(f"{name}: another variable sets all of {part}", hint="unset one of them")
        target[path[-1]] = _value(name, path, text.strip())
        origins[dotted_key(path)] = name
    return table, origins


def _path_in_table(variable: str, known: Mapping[str, Any]) -> list[str] | None:
    """The path of the key that a variable sets in a table whose names the user chooses; or None.

    Raises:
        ConfigError: it may mean one of several names, or a model that is in no file.
    """
    table, *rest = variable.removeprefix(PREFIX).split("__")
    table = table.lower()
    if not rest or not all(rest) or (each := declared(Settings).get(table)) is None or not each.is_table:
        return None
    names = known.get(table, {})
    if table == "environment":
        return [table, "__".join(rest)]
    if table == "models":
        return _path_of_model(variable, rest, names)
    if (schema := each.entry_schema) is None:
        return [table, _name(variable, rest[0], names)] if len(rest) == 1 else None
    if len(rest) < 2 or rest[1].lower() not in declared(schema):
        return None
    name = _name(variable, rest[0], names)
    return [table, name, *_field(variable, rest[1:], _inner(names, name))]


def _path_of_model(variable: str, rest: list[str], names: Mapping[str, Any]) -> list[str] | None:
    if "/" in rest[0] and len(rest) >= 2:
        name, fields = _name(variable, rest[0], names), rest[1:]
    elif len(rest) >= 3:
        name, fields = _known_name(f"{rest[0]}/{rest[1]}", names, variable), rest[2:]
        if name is None:
            hint = 'write it in config.toml, in the table [models."provider/id"]'
            raise ConfigError(f"{variable}: no file has a table of such a model", hint=hint)
    else:
        return None
    if fields[0].lower() not in Model.__struct_fields__:
        return None
    return ["models", name, *_field(variable, fields, _inner(names, name))]


def _value(variable: str, path: list[str], text: str) -> Any:
    """The value of a variable for a key, as plain data. Raises ConfigError if it is invalid."""
    if path[0] == "environment" or "headers" in path[2:-1]:
        return text
    if path[0] == "models" or len(path) > 3:
        return _toml_value(text)
    listed = [part.strip() for part in text.split(",") if part.strip()]
    problem = ""
    for attempt in ([listed, text] if len(listed) > 1 else [text, listed]) + [_toml_value(text)] * (
        path[0] == "providers"
    ):
        table: Any = attempt
        for key in reversed(path):
            table = {key: table}
        try:
            settings = msgspec.to_builtins(msgspec.convert(table, Settings, strict=False))
        except msgspec.ValidationError as error:
            if attempt is text:
                problem = explain(str(error).partition(" - at ")[0], ".".join(path), table)
            continue
        return value_at(settings, path)
    raise ConfigError(f"{variable}: {problem}", hint="correct or unset the variable")


def _field(variable: str, parts: list[str], known: Mapping[str, Any]) -> list[str]:
    """The path below a provider or model: a field, and a key in it if it is a table."""
    field, inner = parts[0].lower(), parts[1:]
    if field != "headers" or not inner:
        return [field, *(part.lower() for part in inner)]
    written = "__".join(inner)
    header = _known_name(written, _inner(known, field), variable) or written.replace("_", "-")
    return [field, header.lower() if header.isupper() else header]


def _name(variable: str, written: str, names: Iterable[str]) -> str:
    return _known_name(written, names, variable) or (written.lower() if written.isupper() else written)


def _known_name(written: str, names: Iterable[str], variable: str) -> str | None:
    listed = list(names)
    if written in listed:
        return written
    found = [name for name in listed if _folded(name) == _folded(written)]
    if len(found) > 1:
        raise ConfigError(f"{variable} may mean any of {', '.join(found)}", hint="unset it, and change the file")
    return found[0] if found else None


def _folded(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()


def _inner(table: Any, key: str) -> Mapping[str, Any]:
    value = table.get(key) if isinstance(table, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _toml_value(text: str) -> Any:
    import tomllib  # slow to import, and rarely needed

    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except tomllib.TOMLDecodeError:
        return text
