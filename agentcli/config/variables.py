"""Variables: the values of `$NAME` and `${NAME}` in what is sent to a provider: its key, its address, its headers.

`$$` is a `$`; a `$` before anything else stays as it is. A variable that is not set, or empty, is a problem only if the
provider is used. Other settings are not expanded.
"""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from agentcli.config.settings import Settings, dotted_key

_VARIABLE = re.compile(r"\$(?:(?P<escaped>\$)|\{(?P<braced>[A-Za-z_]\w*)\}|(?P<plain>[A-Za-z_]\w*)|(?P<open>\{))", re.A)


class Expanded(Struct, frozen=True):
    """Settings with variables expanded, and what could not be."""

    settings: Settings
    """Without the fields that contain a variable that is not set."""
    problems: dict[str, str] = {}
    """One line for each provider, or `provider/id` of a model, with such a field."""
    secrets: frozenset[str] = frozenset()
    """The variables that occur in keys and headers."""


def expand_variables(
    settings: Settings, origin: Callable[[str], str], environment: Mapping[str, str] = os.environ
) -> Expanded:
    """Replace the names of variables by their values.

    Args:
        settings: with names of variables.
        origin: returns where a dotted key is set, for messages.
        environment: the environment variables.
    """
    expansion = _Expansion(origin, environment)
    providers = dict(settings.providers)
    for name, provider in providers.items():
        fields = {key: getattr(provider, key) for key in ("api_key", "base_url", "headers")}
        changed = expansion.fields(name, ("providers", name), {k: v for k, v in fields.items() if v is not UNSET})
        providers[name] = replace(provider, **{key: changed.get(key, UNSET) for key in fields})
    models = {id: expansion.fields(id, ("models", id), fields) for id, fields in settings.models.items()}
    if not expansion.found:
        return Expanded(settings)
    changed = replace(settings, providers=providers, models=models)
    return Expanded(changed, expansion.problems, frozenset(expansion.secrets))


class _Expansion:
    def __init__(self, origin: Callable[[str], str], environment: Mapping[str, str]) -> None:
        self.found = False
        self.problems: dict[str, str] = {}
        self.secrets: set[str] = set()
        self._origin = origin
        self._environment = environment

    def fields(self, owner: str, place: tuple[str, ...], fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a provider or model; those with a variable that is not set are left out."""
        changed: dict[str, Any] = {}
        for key, value in fields.items():
            if key == "headers" and isinstance(value, Mapping):
                changed[key] = self.fields(owner, (*place, key), value)
            elif isinstance(value, str) and "$" in value and (place[-1] == "headers" or key in ("api_key", "base_url")):
                expanded = self._text(owner, (*place, key), value)
                changed |= {} if expanded is None else {key: expanded}
            else:
                changed[key] = value
        return changed

    def _text(self, owner: str, place: tuple[str, ...], text: str) -> str | None:
        self.found = True
        missing: list[str] = []

        def value_of(found: re.Match[str]) -> str:
            if found["escaped"]:
                return "$"
            if found["open"]:
                missing.append("has a ${ that names no variable")
                return ""
            name = found["braced"] or found["plain"]
            if place[-1] != "base_url":
                self.secrets.add(name)
            if not (value := self._environment.get(name, "").strip()):
                state = "is empty" if name in self._environment else "is not set"
                missing.append(f"names the variable {name}, which {state}")
            return value

        expanded = _VARIABLE.sub(value_of, text)
        if not missing:
            return expanded
        key = dotted_key(place)
        where = self._origin(key)
        where = "" if where == "default" else f"{where}: "
        self.problems.setdefault(owner, f"{where}{key} {missing[0]}")
        return None
