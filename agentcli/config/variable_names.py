"""Variable names: which key of the settings `AGENTCLI_PROVIDERS__MINE__BASE_URL` and its like set, and to what.

Two underscores stand between tables. A name of the person's own (a provider, a model, an action, a header) is found
whatever its case, and with `_` for what a variable's name cannot hold, among those that files name; one that no file
names is taken in lower case, or as it is written if it is not all upper case.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from agentcli.agent.errors import ConfigError
from agentcli.agent.models import Model
from agentcli.config.settings import ProviderSettings


def path_in_table(variable: str, parts: list[str], known: Mapping[str, Any]) -> list[str] | None:
    """The path of the key that a variable sets in `providers`, `models`, `keys` or `environment`; or None.

    Args:
        parts: the variable's name without its prefix, between double underscores.
        known: what files set.

    Raises:
        ConfigError: it may be any of several names, or names a model that no file does.
    """
    table, rest = parts[0].lower(), parts[1:]
    names = known.get(table, {})
    match table:
        case "environment":
            return [table, "__".join(rest)]
        case "keys" if len(rest) == 1:
            return [table, _name(variable, rest[0], names)]
        case "providers" if len(rest) >= 2 and rest[1].lower() in ProviderSettings.__struct_fields__:
            name = _name(variable, rest[0], names)
            return [table, name, *_field(variable, rest[1:], _inner(names, name))]
        case "models" if "/" in rest[0] and len(rest) >= 2:
            name, fields = _name(variable, rest[0], names), rest[1:]
        case "models" if len(rest) >= 3:
            name, fields = _known_name(f"{rest[0]}/{rest[1]}", names, variable), rest[2:]
            if name is None:
                hint = 'write it in config.toml, in the table [models."provider/id"]'
                raise ConfigError(f"{variable}: no file has a table of such a model", hint=hint)
        case _:
            return None
    if fields[0].lower() not in Model.__struct_fields__:
        return None
    return [table, name, *_field(variable, fields, _inner(names, name))]


def value_in_table(variable: str, path: list[str], text: str) -> Any:
    """What a text means for a key, as plain data. Raises ConfigError if it does not fit."""
    text = text.strip()
    if path[0] == "environment" or "headers" in path[2:-1]:
        return text
    listed = [part.strip() for part in text.split(",") if part.strip()]
    if path[0] == "keys":
        return listed if len(listed) > 1 else text
    if path[0] == "models" or len(path) > 3:
        return _toml_value(text)
    problem = ""
    for attempt in (text, listed, _toml_value(text)):
        try:
            converted = msgspec.convert({path[2]: attempt}, ProviderSettings, strict=False)
        except msgspec.ValidationError as error:
            problem = problem or str(error).partition(" - at ")[0]
            continue
        if attempt == text and path[2] == "api_key_env" and len(listed) > 1:
            continue
        return msgspec.to_builtins(converted)[path[2]]
    raise ConfigError(f"{variable}: {problem}", hint="correct or unset the variable")


def _field(variable: str, parts: list[str], known: Mapping[str, Any]) -> list[str]:
    """The path below a provider or model: a field, and what is in it if it is a table."""
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
    import tomllib  # 10 ms, for those who have such a variable

    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except tomllib.TOMLDecodeError:
        return text
