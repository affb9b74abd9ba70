"""`agentcli models`."""

import sys

from agentcli.agent.models import Model, Provider
from agentcli.agent.text import printable
from agentcli.config.credentials import has_key
from agentcli.providers.catalog.catalog import LOCAL
from agentcli.runtime.model_catalog import catalog_in
from agentcli.runtime.model_choice import models_by_readiness
from agentcli.runtime.session_choice import working_folder


def print_models(search: str | None, discover: bool) -> None:
    catalog, notices = catalog_in(working_folder(None))
    for notice in notices:
        print(printable(f"agentcli: {notice}"), file=sys.stderr)
    providers = {provider.name: provider for provider in catalog.providers()}
    models = models_by_readiness(catalog)
    if discover:
        from agentcli.agent.threads import run
        from agentcli.providers.catalog.discovery import discover as find_local

        models += run(find_local(servers=[catalog.provider(name) for name in LOCAL]))
    shown = [model for model in models if not search or search.lower() in f"{model.full_id} {model.name}".lower()]
    width = max((len(model.full_id) for model in shown), default=0)
    for model in shown:
        print(printable(f"{model.full_id:{width}}  {_facts(model)}  {_key(providers.get(model.provider))}".rstrip()))
    if not shown:
        print(f"no model matches {search!r}" if search else "no models")


def _facts(model: Model) -> str:
    prices = f"${model.cost.input:g}/{model.cost.output:g}" if model.cost.input or model.cost.output else ""
    marks = ", ".join(mark for mark, holds in (("thinks", model.reasoning), ("sees", "image" in model.input)) if holds)
    return f"{model.context_window // 1000:>5}k  {prices:<12} {marks:<14}"


def _key(provider: Provider | None) -> str:
    if provider is None or not provider.needs_key:
        return ""
    return "key set" if has_key(provider) else f"needs {provider.api_key_env[0] if provider.api_key_env else 'a key'}"
