"""The catalog: its data is sound, what the configuration says is laid over it, and only what is needed is read."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from agentcli.agent.errors import ConfigError, UsageError
from agentcli.agent.messages import user_message
from agentcli.agent.models import (
    CostTier,
    Model,
    ModelCost,
    Provider,
    ThinkingLevel,
    clamp_thinking_level,
    supported_thinking_levels,
)
from agentcli.config.credentials import KEY_VARIABLES
from agentcli.providers.catalog import catalog as catalog_module
from agentcli.providers.catalog.catalog import LOCAL, ORDER, Catalog
from agentcli.providers.catalog.compat import compat_of, unknown_compat_keys
from agentcli.providers.catalog.endpoint import endpoint
from agentcli.providers.stream_client import WIRE_APIS
from tests.providers.support import body_of

ALL = Catalog().models()
FOLDER = Path(catalog_module.__file__).parent


def keys_of(*names: str) -> Callable[[Provider], bool]:
    return lambda provider: provider.name in names


def every_model(test: Callable[[Model], None]) -> Callable[[Model], None]:
    return pytest.mark.parametrize("model", ALL, ids=[model.full_id for model in ALL])(test)


def test_every_file_is_in_the_order_and_the_other_way_round() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(ORDER)


def test_no_model_is_listed_twice() -> None:
    assert len({model.full_id for model in ALL}) == len(ALL)


@every_model
def test_a_model_speaks_a_known_api_at_a_usable_url(model: Model) -> None:
    assert model.api in WIRE_APIS
    assert model.name
    if model.api != "offline":
        assert endpoint(model.base_url, "chat/completions").startswith("https://")


@every_model
def test_a_models_sizes_are_possible(model: Model) -> None:
    assert 0 < model.max_tokens <= model.context_window <= 2_000_000
    assert model.input in (["text"], ["text", "image"])


@every_model
def test_a_models_prices_are_possible(model: Model) -> None:
    costs: list[ModelCost | CostTier] = [model.cost, *model.cost.tiers]
    for cost in costs:
        assert 0 <= cost.cache_read <= cost.input <= cost.output < 200
        assert cost.cache_write == 0 or cost.input <= cost.cache_write <= 2 * cost.input
    for tier in model.cost.tiers:
        assert tier.above < model.context_window
        assert tier.input > model.cost.input
        assert tier.output > model.cost.output


@every_model
def test_a_models_switches_are_known(model: Model) -> None:
    assert unknown_compat_keys(model.compat) == []
    compat_of(model)


@every_model
def test_a_thinking_model_has_a_level_and_one_that_cannot_think_has_none(model: Model) -> None:
    levels = supported_thinking_levels(model)
    assert levels
    assert model.reasoning or not model.thinking_levels
    assert (levels == [ThinkingLevel.OFF]) is not model.reasoning
    assert clamp_thinking_level(model, ThinkingLevel.MEDIUM) in levels


@pytest.mark.parametrize(
    ("full_id", "efforts"),
    [
        ("zai/glm-5.3", {"low", "high", "max"}),
        ("zai/glm-5.2", {"none", "high", "max"}),
        ("moonshot/kimi-k3.1-pro", {"low", "high", "max"}),
        ("xai/grok-4.6", {"low", "medium", "high"}),
        ("xai/grok-4.3", {"none", "low", "medium", "high"}),
        ("groq/openai/gpt-oss-120b", {"low", "medium", "high"}),
        ("mistral/mistral-medium-latest", {"none", "high"}),
        ("google/gemini-4-argon", {"low", "medium", "high"}),
        ("openrouter/~z-ai/glm-latest", {"low", "high", "max"}),
        ("openrouter/~moonshotai/kimi-latest", {"low", "high", "max"}),
        ("openrouter/openrouter/auto", {"low", "medium", "high"}),
    ],
)
def test_only_efforts_that_a_provider_documents_are_sent(full_id: str, efforts: set[str]) -> None:
    model = next(model for model in ALL if model.full_id == full_id)
    sent: set[str] = set()
    for level in ThinkingLevel:
        body = body_of(model, user_message("hi"), reasoning=level)
        sent.add(body.get("reasoning_effort") or body["reasoning"]["effort"])
    assert sent == efforts


def test_a_server_far_away_needs_a_key_and_a_local_one_does_not() -> None:
    for provider in Catalog().providers():
        if provider.name in (*LOCAL, "offline"):
            assert not provider.needs_key
        else:
            assert provider.needs_key
            assert provider.api_key_env


def test_no_child_process_sees_the_key_of_a_provider() -> None:
    names = {name for provider in Catalog().providers() for name in provider.api_key_env}
    assert names <= KEY_VARIABLES


def test_a_provider_without_a_known_name_is_an_error_that_names_the_near_ones() -> None:
    with pytest.raises(UsageError, match=r"no provider `antropic` \(did you mean anthropic\?.*\[providers.antropic\]"):
        Catalog().provider("antropic")


class TestWhatTheConfigurationSays:
    def test_a_new_server_is_one_table(self) -> None:
        catalog = Catalog({"lab": {"base_url": "http://10.0.0.1:9000/v1"}})
        provider = catalog.provider("lab")
        assert (provider.api, provider.needs_key) == ("openai-completions", False)
        assert "lab" in [provider.name for provider in catalog.providers()]

    def test_a_new_server_whose_key_is_named_needs_it(self) -> None:
        catalog = Catalog({"lab": {"base_url": "http://h/v1", "api_key_env": ["LAB_KEY"]}})
        assert catalog.provider("lab").needs_key

    def test_a_known_provider_can_be_sent_elsewhere_and_its_models_follow(self) -> None:
        catalog = Catalog({"anthropic": {"base_url": "https://proxy.example/anthropic", "headers": {"x-team": "a"}}})
        model = catalog.models_of("anthropic")["claude-opus-5-5"]
        assert model.base_url == "https://proxy.example/anthropic"
        assert model.headers == {"x-team": "a"}
        assert model.api == "anthropic-messages"
        assert catalog.provider("anthropic").api_key_env == ["ANTHROPIC_API_KEY"]

    def test_a_provider_may_come_as_a_struct(self) -> None:
        catalog = Catalog({"anthropic": Provider(base_url="https://proxy.example")})
        assert catalog.provider("anthropic").base_url == "https://proxy.example"
        assert catalog.provider("anthropic").api == "anthropic-messages"

    def test_switches_are_merged_key_by_key(self) -> None:
        catalog = Catalog(
            {"deepseek": {"compat": {"auth": "x-api-key"}}},
            {"deepseek/deepseek-flash": {"compat": {"thinking_format": "none"}}},
        )
        models = catalog.models_of("deepseek")
        assert models["deepseek-flash"].compat == {
            "auth": "x-api-key",
            "thinking_format": "none",
            "send_reasoning": True,
        }
        assert models["deepseek-v4-pro"].compat["thinking_format"] == "switch"

    def test_a_models_fields_are_laid_over_the_catalogs(self) -> None:
        changed = {"context_window": 200_000, "cost": {"input": 1}, "thinking_levels": {"max": False}}
        model = Catalog(models={"anthropic/claude-opus-5-5": changed}).models_of("anthropic")["claude-opus-5-5"]
        listed = Catalog().models_of("anthropic")["claude-opus-5-5"]
        assert model.context_window == 200_000
        assert (model.cost.input, model.cost.output) == (1, listed.cost.output)
        assert supported_thinking_levels(model) == supported_thinking_levels(listed)[:-1]

    def test_a_model_that_the_catalog_lacks_is_listed(self) -> None:
        catalog = Catalog(models={"ollama/qwen3:8b": {"reasoning": True}, "openrouter/qwen/new": {}})
        assert {"ollama/qwen3:8b", "openrouter/qwen/new"} <= {model.full_id for model in catalog.models()}
        assert catalog.models_of("ollama")["qwen3:8b"].base_url == "http://127.0.0.1:11434/v1"

    @pytest.mark.parametrize(
        ("models", "message"),
        [
            ({"gpt": {}}, r'\[models."gpt"\] names no model'),
            ({"/gpt": {}}, r'\[models."/gpt"\] names no model'),
            ({"openai/gpt-6.2-sol": {"contex_window": 1}}, "contex_window: there is no such field .*context_window"),
            ({"openai/gpt-6.2-sol": {"context_window": "big"}}, "context_window: Expected `int`, got `str`"),
            ({"openai/gpt-6.2-sol": {"cost": {"input": "1"}}}, r"cost.input: Expected `float`, got `str`"),
            ({"openai/gpt-6.2-sol": {"thinking_levels": {"hgih": "a"}}}, "there is no level `hgih`"),
            ({"opnai/gpt": {}}, "a provider that does not exist"),
        ],
    )
    def test_a_wrong_table_is_an_error_that_says_where(
        self, models: dict[str, dict[str, object]], message: str
    ) -> None:
        with pytest.raises(ConfigError, match=message):
            Catalog(models=models).models()

    def test_a_wrong_provider_is_an_error_that_says_where(self) -> None:
        with pytest.raises(ConfigError, match=r"\[providers.lab\] base_url: Expected `str`, got `int`"):
            Catalog({"lab": {"base_url": 1}}).provider("lab")

    def test_a_wrong_table_does_not_hinder_other_providers(self) -> None:
        catalog = Catalog({"lab": {"base_url": 1}}, {"openai/gpt-6.2-sol": {"context_window": "big"}})
        assert catalog.models_of("groq")


class TestTheDefault:
    def test_without_a_key_there_is_none(self) -> None:
        assert Catalog().default(has_key=keys_of()) is None

    @pytest.mark.parametrize(
        ("keys", "model"),
        [
            (["anthropic"], "anthropic/claude-opus-5-5"),
            (["openai"], "openai/gpt-6.2-sol"),
            (["groq", "openai"], "openai/gpt-6.2-sol"),
            (["cerebras", "ollama"], "cerebras/gpt-oss-120b"),
        ],
    )
    def test_it_is_the_first_model_of_the_first_provider_with_a_key(self, keys: list[str], model: str) -> None:
        found = Catalog().default(has_key=keys_of(*keys))
        assert found
        assert found.full_id == model

    def test_a_local_server_that_may_not_run_is_none(self) -> None:
        catalog = Catalog(models={"ollama/qwen3:8b": {}})
        assert catalog.default(has_key=keys_of("ollama")) is None

    def test_a_server_of_the_persons_own_with_a_model_comes_first(self) -> None:
        catalog = Catalog({"lab": {"base_url": "http://h/v1"}}, {"lab/coder": {}})
        found = catalog.default(has_key=keys_of("anthropic"))
        assert found
        assert found.full_id == "lab/coder"

    def test_a_server_of_the_persons_own_without_its_key_does_not_count(self) -> None:
        catalog = Catalog({"lab": {"base_url": "http://h/v1", "api_key_env": ["LAB"]}}, {"lab/coder": {}})
        assert catalog.default(has_key=keys_of()) is None

    def test_its_order_is_the_documented_one(self) -> None:
        names = [name for name in ORDER if name not in LOCAL]
        for first, name in enumerate(names):
            found = Catalog().default(has_key=keys_of(*names[first:]))
            assert found
            assert found.provider == name


class TestWhatIsRead:
    @pytest.fixture
    def read(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        parse = tomllib.loads
        texts: list[str] = []

        def counting(text: str) -> dict[str, object]:
            texts.append(text)
            return parse(text)

        monkeypatch.setattr(tomllib, "loads", counting)
        return texts

    def test_nothing_for_a_provider_of_the_persons_own(self, read: list[str]) -> None:
        Catalog({"lab": {"base_url": "http://h/v1"}}).resolve("lab/anything:high", has_key=keys_of())
        assert read == []

    @pytest.mark.parametrize("pattern", ["offline", "offline/pilot", "scripted:/tmp/a.jsonl", "replay:/tmp/a.jsonl"])
    def test_nothing_for_what_is_no_server(self, read: list[str], pattern: str) -> None:
        Catalog().resolve(pattern, has_key=keys_of())
        assert read == []

    def test_its_own_file_for_a_provider_that_is_set_up(self, read: list[str]) -> None:
        Catalog({"openai": {"base_url": "http://h/v1"}}).resolve("openai/gpt-4o:high", has_key=keys_of())
        assert len(read) == 1

    @pytest.mark.parametrize("pattern", ["groq/openai/gpt-oss-20b", "groq/openai/gpt-oss-20b:low", "ollama/qwen3:8b"])
    def test_one_file_for_a_listed_model_or_a_local_one(self, read: list[str], pattern: str) -> None:
        Catalog().resolve(pattern, has_key=keys_of())
        assert len(read) == 1

    def test_each_file_once(self, read: list[str]) -> None:
        catalog = Catalog()
        for pattern in ("opus", "sol", "groq"):
            catalog.resolve(pattern, has_key=keys_of())
        catalog.models()
        assert len(read) == len(ORDER)


def test_a_long_prompt_costs_what_its_tier_says() -> None:
    cost = ModelCost(1, 2, tiers=[CostTier(above=200, input=4, output=8), CostTier(above=100, input=2, output=4)])
    assert [cost.rates(tokens).input for tokens in (0, 100, 101, 200, 201)] == [1, 1, 2, 2, 4]


def test_a_model_survives_being_written_down_and_read() -> None:
    assert msgspec.json.decode(msgspec.json.encode(ALL), type=list[Model]) == ALL
