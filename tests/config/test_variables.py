"""Variables of the environment: those that settings name, and those that set settings in tables of any name."""

from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.errors import ConfigError
from agentcli.agent.models import Provider
from agentcli.config.configuration import Configuration, load_configuration
from agentcli.config.credentials import find_key, key_source
from agentcli.config.settings import ProviderSettings, Settings
from agentcli.config.variables import expand_variables


def load(folder: Path, environment: dict[str, str]) -> Configuration:
    return load_configuration(folder, environment=environment)


def expand(environment: dict[str, str], **fields: Any):
    settings = Settings(providers={"a": ProviderSettings(**fields)})
    return expand_variables(settings, lambda key: f"config.toml:7 ({key})", environment)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Bearer $KEY", "Bearer k"),
        ("${KEY}x$KEY", "kxk"),
        ("a$$KEY", "a$KEY"),
        ("$$$KEY", "$k"),
        ("costs 5$, $1 or $", "costs 5$, $1 or $"),
        ("$KÉ", None),
        ("$NOPE", None),
        ("x${NOPE}", None),
        ("$EMPTY", None),
        ("${KEY:-x}", None),
        ("${KEY", None),
    ],
)
def test_what_a_dollar_stands_for_and_what_names_no_variable_is_a_problem(text: str, value: str | None):
    environment = {"KEY": " k\n", "EMPTY": "", "K": "other"} | ({} if "É" not in text else {"K": ""})
    for field in ("api_key", "base_url"):
        expanded = expand(environment, **{field: text})
        found = getattr(expanded.settings.providers["a"], field)
        assert (found or None) == value and ("a" in expanded.problems) == (value is None)
    expanded = expand(environment, headers={"X-One": text})
    assert expanded.settings.providers["a"].headers == ({} if value is None else {"X-One": value})


def test_the_problem_names_the_variable_the_setting_and_the_file_and_only_its_provider_has_it():
    expanded = expand({}, headers={"Authorization": "Bearer $NOPE"}, base_url="http://h")
    place = "providers.a.headers.Authorization"
    assert expanded.problems == {"a": f"config.toml:7 ({place}): {place} names the variable NOPE, which is not set"}
    assert expand({"NOPE": ""}, api_key="$NOPE").problems["a"].endswith("names the variable NOPE, which is empty")
    settings = Settings(models={"a/m.1": {"headers": {"X": "$NOPE"}, "max_tokens": 5}})
    expanded = expand_variables(settings, lambda key: "default", {})
    assert expanded.problems == {"a/m.1": 'models."a/m.1".headers.X names the variable NOPE, which is not set'}
    assert expanded.settings.models == {"a/m.1": {"headers": {}, "max_tokens": 5}}


def test_what_holds_a_key_is_known_and_other_settings_are_taken_as_they_are_written():
    expanded = expand({"KEY": "k", "HOST": "h"}, api_key="$KEY", base_url="http://$HOST", compat={"x": "$KEY"})
    assert expanded.secrets == {"KEY"} and expanded.settings.providers["a"].compat == {"x": "$KEY"}
    settings = Settings(environment={"A": "$HOME"}, shell="$SHELL")
    assert expand_variables(settings, lambda key: "default", {}).settings == settings


def test_a_key_in_the_configuration_weighs_most(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("A_API_KEY", "from-the-environment")
    assert find_key(Provider(name="a", api_key=" from-the-file ")) == "from-the-file"
    assert key_source(Provider(name="a", api_key="k")) == "the configuration"


FILE = """
[providers.my-server]
base_url = "http://old"
headers = { X-Team = "red" }
[models."my-server/m.1"]
max_tokens = 1
[keys]
quit = "ctrl+q"
"""


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("PROVIDERS__A__BASE_URL", "http://a", "providers.a.base_url", "http://a"),
        ("PROVIDERS__a__base_url", "http://a", "providers.a.base_url", "http://a"),
        ("PROVIDERS__Mine__LABEL", "x", "providers.Mine.label", "x"),
        ("PROVIDERS__MY_SERVER__BASE_URL", "http://new", "providers.my-server.base_url", "http://new"),
        ("PROVIDERS__MY_SERVER__HEADERS__X_TEAM", "blue", "providers.my-server.headers.X-Team", "blue"),
        ("PROVIDERS__A__HEADERS__X_ONE", "1", "providers.a.headers.x-one", "1"),
        ("PROVIDERS__A__API_KEY_ENV", "K1, K2", "providers.a.api_key_env", ["K1", "K2"]),
        ("PROVIDERS__A__API_KEY_ENV", "K1", "providers.a.api_key_env", "K1"),
        ("PROVIDERS__A__COMPAT__SUPPORTS_STORE", "false", "providers.a.compat.supports_store", False),
        ("PROVIDERS__A__HEADERS", '{ "X-A" = "1" }', "providers.a.headers.X-A", "1"),
        ("MODELS__MY_SERVER__M_1__MAX_TOKENS", "7", 'models."my-server/m.1".max_tokens', 7),
        ("MODELS__b/x__REASONING", "true", 'models."b/x".reasoning', True),
        ("MODELS__b/x__NAME", "Big X", 'models."b/x".name', "Big X"),
        ("KEYS__QUIT", "f2,f3", "keys.quit", ["f2", "f3"]),
        ("ENVIRONMENT__Foo__BAR", "1", "environment.Foo__BAR", "1"),
        ("COMPACTION__KEEP_RECENT_TOKENS", "5", "compaction.keep_recent_tokens", 5),
        ("PERMISSIONS__ALLOW", "read,ls", "permissions.allow", ["read", "ls"]),
    ],
)
def test_a_variable_reaches_into_every_table(repo: Path, home: Path, name: str, text: str, key: str, value: object):
    (home / "config.toml").write_text(FILE)
    configuration = load(repo, {f"AGENTCLI_{name}": text})
    assert configuration.settings.warnings == []
    assert configuration.origin(key) == f"AGENTCLI_{name}" or name.endswith("__HEADERS")
    found: Any = configuration.settings
    path = ["models", *key.split('"')[1:2], key.rpartition(".")[2]] if '"' in key else key.split(".")
    for part in path:
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    assert found == value


def test_a_variable_that_sets_nothing_is_one_line_and_one_that_may_mean_several_is_an_error(repo: Path, home: Path):
    (home / "config.toml").write_text(FILE + '[providers.my_server]\nbase_url = "http://other"\n')
    for name in ("PROVIDERS__A__NOPE", "PROVIDERS__A", "KEYS__A__B", "MODELS__a/b__NOPE", "NOPE__A", "PROVIDERS____X"):
        (warning,) = load(repo, {f"AGENTCLI_{name}": "1"}).settings.warnings
        assert warning == f"AGENTCLI_{name}: there is no such setting; the variable is ignored"
    for name in ("PROVIDERS__My_Server__LABEL", "MODELS__ANTHROPIC__CLAUDE_9__MAX_TOKENS", "PROVIDERS__A__BASE_URL__X"):
        with pytest.raises(ConfigError, match=name.partition("__X")[0]):
            load(repo, {"AGENTCLI_PROVIDERS__A__BASE_URL": "http://h", f"AGENTCLI_{name}": "1"})
