"""Catalog: which providers and models there are, as data, and what the configuration changes about them.

The facts are TOML, one file a provider in `catalog/`, and only the files that a question needs are parsed: all of them
take 4 ms of a start, the longest 1 ms, a local server's 0.1. In a file the first model is the one that its maker
recommends to begin with, and of one line of models the newest comes first. Which model a person means by a word is
`model_pattern`'s business.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from agentcli.agent.errors import ConfigError, UsageError
from agentcli.agent.models import Model, Provider, ThinkingLevel
from agentcli.agent.tables import merge_tables
from agentcli.providers.catalog import model_pattern

ORDER = (
    "anthropic",
    "openai",
    "google",
    "xai",
    "deepseek",
    "moonshot",
    "zai",
    "mistral",
    "openrouter",
    "groq",
    "cerebras",
    "ollama",
    "lmstudio",
    "llamacpp",
    "vllm",
)
"""The providers of the catalog, in the order in which `Catalog.default` looks for a key and lists come."""

LOCAL = ("ollama", "lmstudio", "llamacpp", "vllm")
"""Those that answer on this machine, if they run."""

OFFLINE = Provider(name="offline", label="Offline pilot", api="offline", needs_key=False)
PILOT = Model(id="pilot", name="Offline pilot (no language model)", api="offline", provider="offline")

FILE_PROVIDERS = {
    "scripted": Provider(name="scripted", label="Script", api="scripted", needs_key=False),
    "replay": Provider(name="replay", label="Recorded session", api="replay", needs_key=False),
}
"""Providers whose model is a file: `scripted:PATH`, `replay:PATH`."""

Fields = TypeVar("Fields", Provider, Model)

HasKey = Callable[[Provider], bool]

_FOLDER = Path(__file__).parent


class Catalog:
    """Args:
    providers: what the configuration says of providers, by name: new ones, and changes of known ones. A `Provider`
        changes what differs from the defaults; a mapping of fields changes what it names.
    models: what it says of models, by `provider/id`: fields of `Model`, laid over those of the catalog, or a model that
        the catalog lacks. `cost`, `headers`, `compat` and `thinking_levels` are merged key by key; a level set to
        false is hidden.

    What the configuration says is checked when it is used.
    """

    def __init__(
        self,
        providers: Mapping[str, Provider | Mapping[str, Any]] = {},
        models: Mapping[str, Mapping[str, Any]] = {},
    ) -> None:
        self._changes = {name: _fields(provider) for name, provider in providers.items()}
        self._model_changes: dict[str, dict[str, Mapping[str, Any]]] = {}
        for full_id, fields in models.items():
            name, slash, id = full_id.partition("/")
            if not (slash and name and id):
                raise ConfigError(
                    f'[models."{full_id}"] names no model', hint='write the table as [models."provider/id"]'
                )
            self._model_changes.setdefault(name, {})[id] = fields
        self._known: dict[str, tuple[Provider, dict[str, Model]]] = {}

    def names(self) -> list[str]:
        """The names of all providers, in their order; the person's own ones come after the catalog's."""
        return [*ORDER, *(name for name in self._changes if self.is_own(name)), OFFLINE.name]

    def is_configured(self, name: str) -> bool:
        """Whether the configuration says something of this provider."""
        return name in self._changes

    def is_own(self, name: str) -> bool:
        """Whether the configuration defines this provider, rather than the catalog."""
        return name in self._changes and name not in (*ORDER, OFFLINE.name, *FILE_PROVIDERS)

    def provider(self, name: str) -> Provider:
        """Raises UsageError if there is none of this name."""
        if name in FILE_PROVIDERS:
            return FILE_PROVIDERS[name]
        if name not in self.names():
            near = model_pattern.nearest(name, self.names())
            did_you_mean = f"did you mean {near}? " if near else ""
            raise UsageError(
                f"there is no provider `{name}`",
                hint=f"{did_you_mean}a server of your own is a table [providers.{name}] in the configuration",
            )
        return self._entry(name)[0]

    def providers(self) -> list[Provider]:
        """All providers, in their order."""
        return [self._entry(name)[0] for name in self.names()]

    def models_of(self, name: str) -> dict[str, Model]:
        """The listed models of a provider by their id; many servers have more. Raises UsageError as `provider` does."""
        self.provider(name)
        return {} if name in FILE_PROVIDERS else self._entry(name)[1]

    def models(self) -> list[Model]:
        """All listed models, provider by provider."""
        for name in self._model_changes:
            self._check_provider(name)
        return [model for name in self.names() for model in self._entry(name)[1].values()]

    def resolve(self, pattern: str, *, has_key: HasKey) -> tuple[Model, ThinkingLevel | None]:
        """The model that a person means, and the thinking level if they said one.

        Args:
            pattern: `provider/id`, an id, a part of one, or a provider alone; each may end in `:LEVEL`. Besides
                `offline`, `scripted:PATH` and `replay:PATH`.
            has_key: whether there is a key for a provider that needs one.

        Raises:
            UsageError: nothing, or more than one model, is meant. The hint says what is near.
        """
        text = pattern.strip()
        if not text:
            raise UsageError("the name of the model is empty", hint="write `provider/id`")
        for name, provider in FILE_PROVIDERS.items():
            # A session keeps the model as `provider/id`, so a slash says the same.
            if text.startswith((f"{name}:", f"{name}/")):
                return _of_file(provider, text[len(name) + 1 :]), None
        return model_pattern.resolve(text, self, has_key=has_key)

    def find(self, provider: str, id: str, *, thinks: bool = False) -> Model:
        """The model that a program has kept as provider and id: this one, whatever keys there are.

        Args:
            thinks: what was known of it, if it is not listed.

        Raises:
            UsageError: there is no such provider, or it cannot have such a model.
        """
        if provider in FILE_PROVIDERS:
            return _of_file(FILE_PROVIDERS[provider], id)
        try:
            models = self.models_of(provider)
        except UsageError as error:
            raise UsageError(f"no model matches `{provider}/{id}`: {error.message}", hint=error.hint) from None
        if id in models:
            return models[id]
        if not id.strip():
            raise UsageError("the name of the model is empty", hint="give the id that the server has for it")
        found = self.provider(provider)
        if found.api == "offline":
            names = " or ".join(model.full_id for model in models.values())
            raise UsageError(f"{provider} has no model `{id}`", hint=f"use {names}")
        return model_pattern.unlisted(found, models, id, thinks=thinks)

    def lists(self, model: Model) -> bool:
        """Whether what is known of the model comes from a list, and not from how it was asked for."""
        if model.provider in FILE_PROVIDERS:
            return True
        return model.provider in self.names() and model.id in self.models_of(model.provider)

    def default(self, *, has_key: HasKey) -> Model | None:
        """The first model of the first provider that is ready; None if there is none.

        The person's own providers that list a model come first, then those of the catalog that have a key. A local
        server of the catalog is no default: nobody knows whether it runs.
        """
        for name in self.names():
            provider, models = self._entry(name) if self.is_own(name) else (None, {})
            if provider and models and (not provider.needs_key or has_key(provider)):
                return next(iter(models.values()))
        for name in ORDER:
            provider, models = self._entry(name)
            if models and provider.needs_key and has_key(provider):
                return next(iter(models.values()))
        return None

    def _entry(self, name: str) -> tuple[Provider, dict[str, Model]]:
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> tuple[Provider, dict[str, Model]]:
        match name:
            case OFFLINE.name:
                table = {**_fields(OFFLINE), "models": {PILOT.id: _fields(PILOT)}}
            case _:
                table = _parse(name) if name in ORDER else {}
        listed: dict[str, Mapping[str, Any]] = table.pop("models", {})
        changes = self._changes.get(name, {})
        if self.is_own(name) and not changes.get("api_key_env"):
            changes = {"needs_key": False, **changes}
        provider = _convert(merge_tables({**table, "name": name}, changes), Provider, f"[providers.{name}]")
        base = {field: getattr(provider, field) for field in ("api", "base_url", "headers", "compat")}
        models: dict[str, Model] = {}
        for id in [*listed, *(id for id in self._model_changes.get(name, {}) if id not in listed)]:
            changed = self._model_changes.get(name, {}).get(id, {})
            fields = merge_tables(merge_tables(base, listed.get(id, {})), changed)
            models[id] = _model({**fields, "id": id, "provider": name}, f'[models."{name}/{id}"]')
        return provider, models

    def _check_provider(self, name: str) -> None:
        if name not in self.names():
            raise ConfigError(
                f'[models."{name}/…"] is of a provider that does not exist',
                hint=f"add a table [providers.{name}], or correct the name",
            )


def _of_file(provider: Provider, path: str) -> Model:
    if not path:
        raise UsageError(f"{provider.name}: names no file", hint=f"write {provider.name}:PATH")
    return Model(id=path, name=Path(path).name, api=provider.api, provider=provider.name)


def _parse(name: str) -> dict[str, Any]:
    import tomllib  # 10 ms, for those who configure nothing

    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


def _fields(value: Provider | Model | Mapping[str, Any]) -> dict[str, Any]:
    """What is set: Structs leave out their defaults."""
    return dict(value) if isinstance(value, Mapping) else msgspec.to_builtins(value)


def _model(fields: dict[str, Any], place: str) -> Model:
    if isinstance(levels := fields.get("thinking_levels"), Mapping):
        for level in levels:
            if level not in list(ThinkingLevel):
                raise ConfigError(
                    f"{place} thinking_levels: there is no level `{level}`", hint=f"use {', '.join(ThinkingLevel)}"
                )
        fields = {
            **fields,
            "thinking_levels": {level: None if told is False else told for level, told in levels.items()},
        }
    return _convert({"name": fields["id"], **fields}, Model, place)


def _convert(fields: dict[str, Any], kind: type[Fields], place: str) -> Fields:
    for key in fields:
        if key not in kind.__struct_fields__:
            near = model_pattern.nearest(key, kind.__struct_fields__)
            raise ConfigError(
                f"{place} {key}: there is no such field", hint=f"did you mean {near}?" if near else "take it out"
            )
    try:
        return msgspec.convert(fields, kind)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at ")
        key = path.strip("`").removeprefix("$.")
        raise ConfigError(f"{place} {key}: {problem}", hint="correct the value") from None
