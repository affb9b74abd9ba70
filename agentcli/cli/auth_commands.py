"""What `agentcli auth …` does. Keys are read and stored here, and never printed."""

import sys

from agentcli.agent.errors import CredentialsError
from agentcli.agent.models import Provider, clean_key
from agentcli.agent.text import printable
from agentcli.config import key_store
from agentcli.config.credentials import key_source, key_variables
from agentcli.config.masking import remember_key
from agentcli.config.paths import auth_file
from agentcli.providers.catalog.catalog import Catalog
from agentcli.runtime.model_catalog import catalog_in
from agentcli.runtime.session_choice import working_folder


def log_in(name: str, in_keyring: bool | None) -> None:
    provider = _catalog().provider(name)
    if in_keyring is None:
        in_keyring = key_store.has_keyring()
    key = _ask(provider)
    remember_key(key)
    clean_key(key, source="the key in the input")
    key_store.store_key(name, key, in_keyring=in_keyring)
    print(f"the key of {_label(provider)} is in {'the keyring' if in_keyring else auth_file()}")
    source = key_source(provider)
    if source in (*key_variables(provider), "key command"):
        print(f"agentcli: {source} comes first, so the stored key is not used now", file=sys.stderr)


def log_out(name: str) -> None:
    provider = _catalog().provider(name)
    if not key_store.remove_key(name):
        raise CredentialsError(f"no key of {_label(provider)} is stored", hint="agentcli auth status lists them")
    print(f"the key of {_label(provider)} is removed")
    if source := key_source(provider):
        print(f"agentcli: {source} still has a key", file=sys.stderr)


def print_status() -> None:
    found = [(provider, source) for provider in _catalog().providers() if (source := key_source(provider))]
    width = max((len(provider.name) for provider, _ in found), default=0)
    for provider, source in found:
        print(printable(f"{provider.name:{width}}  {source}"))
    if not found:
        print("no provider has a key; store one with `agentcli auth login PROVIDER`, or set its variable")


def _catalog() -> Catalog:
    return catalog_in(working_folder(None))[0]


def _ask(provider: Provider) -> str:
    if sys.stdin.isatty():
        import getpass

        key = getpass.getpass(f"Key of {_label(provider)}: ")
    else:
        key = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not key.strip():
        raise CredentialsError("there was no key to store", hint="type or pipe it in")
    return key.strip()


def _label(provider: Provider) -> str:
    return printable(provider.label or provider.name)
