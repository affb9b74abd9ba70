"""Model patterns: which model a person means by `opus`, `openai/gpt-6.2-sol:high` or `ollama/qwen3:8b`.

In this order, each step first for the text as it stands, then for what stands before a `:LEVEL` at its end:

1. `provider/id` as it is listed, but for case, whitespace and dots; or a provider alone: its first model.
2. An id, whole or from its last `/` on; dots and dashes are one (`claude-opus-5.5`).
3. A part of an id, but of the version it says: `gpt-6` is no part of `gpt-6.2-sol`. What has a slash is taken for a
   whole id: only a version may follow (`anthropic/claude-opus`), as `gpt-5.4` is not `gpt-5.4-mini`.
4. `provider/anything`: a model that is not listed, of a server that is.

Of several models, those of a provider that has its key count, then those of the maker rather than of a reseller, then
the newest of one line of models, without a date before with one. What is then still two is an error that lists both.

All this is for what a person writes. What a program has kept as `provider/id` is looked up by `Catalog.find`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import msgspec

from agentcli.agent.errors import UsageError
from agentcli.agent.models import Model, ModelCost, Provider, ThinkingLevel

_LEVELS = {str(level): level for level in ThinkingLevel}
_DATE = re.compile(r"[-@:](\d{8}|\d{6}|\d{4}-\d\d-\d\d|\d{4})$")
_VERSION = re.compile(r"[-@:]?\d+(?!\d*[a-z])")
"""A number that is no size: `5` in `opus-5`, not `120b`."""
_OTHER_VERSION = re.compile(r"-?\d{1,3}(?!\d)")
"""What makes `opus-5` another version than `opus-5-5`, while a date does not."""
_AROUND_SIGNS = re.compile(r"\s*([/:])\s*")
_SHOWN = 6


class ModelIndex(Protocol):
    """What is searched."""

    def names(self) -> list[str]: ...
    def is_configured(self, name: str) -> bool: ...
    def provider(self, name: str) -> Provider: ...
    def models_of(self, name: str) -> dict[str, Model]: ...


def resolve(
    text: str, listing: ModelIndex, *, has_key: Callable[[Provider], bool]
) -> tuple[Model, ThinkingLevel | None]:
    """The model that is meant, and the level. Raises UsageError if it is none, or more than one."""
    search = _Search(listing, has_key)
    if model := search.exact(text):
        return model, None
    readings = _readings(_AROUND_SIGNS.sub(r"\1", text.strip()))
    for find in (search.listed, search.named, search.by_part):
        for reading, level in readings:
            if model := find(reading):
                return model, level
    reading, level = readings[-1]
    return search.unlisted(reading, level), level


def unlisted(provider: Provider, models: Mapping[str, Model], id: str, *, thinks: bool) -> Model:
    """A model of `provider` that is none of its listed `models`, as far as it can be known from them.

    What is not known is what most models are, unless it is a variant of a listed one.
    """
    base, colon, _ = id.rpartition(":")
    if colon and base in models:
        # `:free`, `:nitro` …: the same model at another price.
        return msgspec.structs.replace(models[base], id=id, name=id, cost=ModelCost())
    if (dated := _DATE.search(id)) and id[: dated.start()] in models:
        return msgspec.structs.replace(models[id[: dated.start()]], id=id, name=id)
    return Model(
        id=id,
        name=id,
        api=provider.api,
        provider=provider.name,
        base_url=provider.base_url,
        reasoning=thinks,
        headers=provider.headers,
        compat=provider.compat,
    )


def nearest(name: str, names: Iterable[str]) -> str:
    """The names that are spelt most like `name`, as `a, b or c`; empty if none is."""
    near = _close(name, names, count=3, likeness=0.5)
    return " or ".join([", ".join(near[:-1]), near[-1]] if len(near) > 1 else near)


def _close(name: str, names: Iterable[str], *, count: int, likeness: float) -> list[str]:
    from difflib import get_close_matches  # 5 ms, only for an error

    return get_close_matches(name.lower(), list(names), n=count, cutoff=likeness)


def _is_misspelt_level(text: str) -> bool:
    return bool(_close(text, _LEVELS, count=1, likeness=0.65))


def _readings(text: str) -> list[tuple[str, ThinkingLevel | None]]:
    head, colon, end = text.rpartition(":")
    readings: list[tuple[str, ThinkingLevel | None]] = [(text, None)]
    if colon and head and end.lower() in _LEVELS:
        readings.append((head.rstrip(), _LEVELS[end.lower()]))
    return readings


class _Search:
    def __init__(self, listing: ModelIndex, has_key: Callable[[Provider], bool]) -> None:
        self.listing = listing
        self._has_key = has_key
        self._ready: dict[str, bool] = {}

    def exact(self, text: str) -> Model | None:
        """Character for character: what a listed model is called finds it, however odd that is."""
        name, _, id = text.partition("/")
        return self.listing.models_of(name).get(id) if name in self.listing.names() else None

    def listed(self, text: str) -> Model | None:
        """Step 1. Looks at one provider only, so that no key decides what an id that it lists means."""
        name, id = self._split(text)
        if name:
            same = [model for model in self._models(name) if _fold(model.id) == _fold(id)]
            return self.listing.models_of(name).get(id) or self._choose(same, text)
        name, _ = self._split(f"{text}/")
        if not name:
            return None
        models = self.listing.models_of(name)
        if not models:
            hint = f"write {name}/ID, with the id that the server has for it"
            raise UsageError(f"`{text}` is a provider that lists no models", hint=hint)
        return next(iter(models.values()))

    def named(self, text: str) -> Model | None:
        """Step 2. Another provider's id may begin with a provider's name (`openai/gpt-oss-120b` is Groq's)."""
        name, _ = self._split(text)
        if name and self._stands_alone(name):
            return None
        wanted = _fold(text)
        found = [model for model in self._models() if wanted in (_fold(model.full_id), _fold(model.id), _end(model))]
        ready = [model for model in found if self._is_ready(model.provider)]
        return self._choose(ready or [model for model in found if not name or model.provider == name], text)

    def by_part(self, text: str) -> Model | None:
        """Step 3. After a provider's name, among its models."""
        name, part = self._split(text)
        if not any(character.isalnum() for character in part):
            return None
        fits = _is_whole if "/" in text else _is_part
        matches = [model for model in self._models(name) if fits(_fold(part), _fold(model.id))]
        ready = [model for model in matches if self._is_ready(model.provider)]
        return self._choose(ready or matches, text)

    def unlisted(self, text: str, level: ThinkingLevel | None) -> Model:
        """Step 4."""
        name, id = self._split(text)
        if not (name and id) or id.startswith(":"):
            raise self._nothing(text)
        provider = self.listing.provider(name)
        models = self.listing.models_of(name)
        if provider.api == "offline":
            raise UsageError(f"{name} has no model `{id}`", hint=f"use {' or '.join(f'{name}/{id}' for id in models)}")
        base, colon, variant = id.rpartition(":")
        if colon and variant.lower() in _LEVELS:
            raise UsageError(f"`{text}` names a thinking level twice", hint="write it once, at the end")
        if colon and base in models and _is_misspelt_level(variant):
            raise UsageError(f"there is no thinking level `{variant}`", hint=f"use one of {', '.join(_LEVELS)}")
        return unlisted(provider, models, id, thinks=level not in (None, ThinkingLevel.OFF))

    def _split(self, text: str) -> tuple[str, str]:
        """The provider that `text` begins with, and the rest; an empty name if it begins with none."""
        head, slash, rest = text.partition("/")
        names = self.listing.names()
        known = {**{name.lower(): name for name in names}, **{name: name for name in names}}
        name = known.get(head) or known.get(head.lower(), "") if slash else ""
        return (name, rest) if name else ("", text)

    def _stands_alone(self, name: str) -> bool:
        """Whether `name/…` is no other provider's id: the person set it up, or the catalog lists nothing of it."""
        return self.listing.is_configured(name) or not self.listing.models_of(name)

    def _models(self, name: str = "") -> list[Model]:
        names = [name] if name else self.listing.names()
        return [model for known in names for model in self.listing.models_of(known).values()]

    def _is_ready(self, name: str) -> bool:
        """Whether a request to this provider can be made."""
        if name not in self._ready:
            provider = self.listing.provider(name)
            self._ready[name] = not provider.needs_key or self._has_key(provider)
        return self._ready[name]

    def _choose(self, matches: list[Model], text: str) -> Model | None:
        """The one that is meant, if the module's rules say which. Raises UsageError if they do not."""
        makers = {model.provider for model in matches}
        matches = [model for model in matches if not _is_resold(model, makers)] or matches
        if len(matches) < 2:
            return matches[0] if matches else None
        if len({(model.provider, _line(model.id)) for model in matches}) == 1:
            return min(matches, key=lambda model: bool(_DATE.search(model.id)))
        newest = list({(model.provider, _line(model.id)): model for model in reversed(matches)}.values())[::-1]
        shown = ", ".join(model.full_id for model in newest[:_SHOWN])
        more = f" and {len(newest) - _SHOWN} more" if len(newest) > _SHOWN else ""
        raise UsageError(f"`{text}` may be {shown}{more}", hint="name one of them")

    def _nothing(self, text: str) -> UsageError:
        models = self._models()
        names = {name: model.full_id for model in models for name in (model.full_id, model.id, _end(model))}
        near = list(dict.fromkeys(names[name] for name in _close(text, names, count=6, likeness=0.5)))[:3]
        did_you_mean = f"did you mean {' or '.join(near)}? " if near else ""
        how = "any model of a server is PROVIDER/ID, as in openrouter/qwen/qwen3-coder or ollama/qwen3:8b"
        return UsageError(f"no model matches `{text}`", hint=did_you_mean + how)


def _fold(text: str) -> str:
    return text.lower().replace(".", "-")


def _tail(id: str) -> str:
    return id.rpartition("/")[2]


def _end(model: Model) -> str:
    return _fold(_tail(model.id))


def _line(id: str) -> str:
    """The line of models that an id belongs to: without version, date and `-latest`."""
    return _VERSION.sub("", _fold(_tail(id)).removesuffix("-latest"))


def _is_part(part: str, id: str) -> bool:
    start = id.find(part)
    while start >= 0:
        end = start + len(part)
        if not (part[-1].isdigit() and _OTHER_VERSION.match(id, end)):
            return True
        start = id.find(part, start + 1)
    return False


def _is_whole(part: str, id: str) -> bool:
    """Whether `part` is `id` but for what stands before a word of it, and a version after."""
    start = id.find(part)
    if start < 0 or not _is_part(part, id):
        return False
    begins_inside = start > 0 and id[start - 1] not in "/~"
    return begins_inside or not _VERSION.sub("", id[start + len(part) :].removesuffix("-latest"))


def _is_resold(model: Model, makers: set[str]) -> bool:
    """Whether its id begins with another of the providers: `x-ai/grok-4.3` is xAI's, whoever sells it."""
    maker, slash, _ = model.id.partition("/")
    letters = re.sub(r"[^a-z]", "", maker.lower())
    return bool(slash) and any(letters.startswith(name) for name in makers - {model.provider})
