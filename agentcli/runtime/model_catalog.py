"""The model catalog as a runtime has it: the built-in one, what extensions add, and what the settings change."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from agentcli.config.configuration import load_configuration
from agentcli.config.settings import Settings
from agentcli.config.variables import expand_variables
from agentcli.providers.catalog.catalog import Catalog
from agentcli.runtime.additions import Additions
from agentcli.runtime.options import RuntimeOptions


def catalog_in(cwd: Path) -> tuple[Catalog, list[str]]:
    """The catalog as a run in this folder would have it, and what the person should know."""
    configuration = load_configuration(cwd)
    settings = expand_variables(configuration.settings, configuration.origin).settings
    additions = Additions(cwd, RuntimeOptions(settings=settings), configuration.project)
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
