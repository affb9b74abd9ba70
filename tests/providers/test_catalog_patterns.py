"""Patterns: what a person may write for a model, and which one they get."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.errors import AgentcliError, UsageError
from agentcli.agent.models import Model, ModelCost, Provider, ThinkingLevel
from agentcli.providers.catalog.catalog import ORDER, Catalog
from agentcli.providers.catalog.model_pattern import resolve

CATALOG = Catalog()
LISTED = CATALOG.models()


def keys_of(*names: str) -> Callable[[Provider], bool]:
    return lambda provider: provider.name in names


def meant(pattern: str, *keys: str, catalog: Catalog = CATALOG) -> str:
    """The model as `provider/id`, and the level if there is one."""
    model, level = catalog.resolve(pattern, has_key=keys_of(*keys))
    return f"{model.full_id}:{level}" if level else model.full_id


class FakeListing:
    """A catalog of invented models; a provider needs a key unless it is called `free`."""

    def __init__(self, *full_ids: str) -> None:
        self.listed: dict[str, dict[str, Model]] = {}
        for full_id in full_ids:
            provider, _, id = full_id.partition("/")
            model = Model(id=id, api="openai-completions", provider=provider)
            self.listed.setdefault(provider, {})[id] = model

    def names(self) -> list[str]:
        return list(self.listed)

    def is_configured(self, name: str) -> bool:
        return False

    def provider(self, name: str) -> Provider:
        return Provider(name=name, needs_key=name != "free")

    def models_of(self, name: str) -> dict[str, Model]:
        return self.listed[name]


def meant_among(pattern: str, *full_ids: str, keys: tuple[str, ...] = ()) -> str:
    return resolve(pattern, FakeListing(*full_ids), has_key=keys_of(*keys))[0].full_id


@pytest.mark.parametrize("model", LISTED, ids=[model.full_id for model in LISTED])
def test_every_listed_model_is_meant_by_its_full_id(model: Model) -> None:
    assert CATALOG.resolve(model.full_id, has_key=keys_of()) == (model, None)
    assert CATALOG.resolve(f"{model.full_id}:high", has_key=keys_of()) == (model, ThinkingLevel.HIGH)


@pytest.mark.parametrize("model", LISTED, ids=[model.full_id for model in LISTED])
def test_every_listed_model_is_meant_by_its_id_to_those_who_have_its_key_only(model: Model) -> None:
    """Unless that is the full id of another: the provider that is named comes first."""
    full_ids = {model.full_id for model in LISTED}
    assert meant(model.id, model.provider) == (model.id if model.id in full_ids else model.full_id)


@pytest.mark.parametrize(
    ("pattern", "model"),
    [
        ("opus", "anthropic/claude-opus-5-5"),
        ("OPUS", "anthropic/claude-opus-5-5"),
        ("  opus ", "anthropic/claude-opus-5-5"),
        ("opus-5", "anthropic/claude-opus-5"),
        ("claude-opus-5.5", "anthropic/claude-opus-5-5"),
        ("anthropic/opus", "anthropic/claude-opus-5-5"),
        ("anthropic/claude-opus", "anthropic/claude-opus-5-5"),
        ("Anthropic/Claude-Opus-5.5", "anthropic/claude-opus-5-5"),
        ("anthropic", "anthropic/claude-opus-5-5"),
        ("opus:max", "anthropic/claude-opus-5-5:max"),
        ("opus:OFF", "anthropic/claude-opus-5-5:off"),
        ("anthropic/opus:low", "anthropic/claude-opus-5-5:low"),
        ("anthropic:low", "anthropic/claude-opus-5-5:low"),
        ("openai/gpt-6-luna:none-such", "openai/gpt-6-luna:none-such"),
        ("offline", "offline/pilot"),
        ("offline/pilot", "offline/pilot"),
    ],
)
def test_what_a_person_writes(pattern: str, model: str) -> None:
    assert meant(pattern) == model


@pytest.mark.parametrize("level", list(ThinkingLevel))
def test_every_level_can_be_said(level: ThinkingLevel) -> None:
    assert CATALOG.resolve(f"opus:{level}", has_key=keys_of())[1] is level


class TestSeveral:
    def test_of_versions_of_one_line_the_newest(self) -> None:
        assert meant_among("sonnet", "a/sonnet-5-5", "a/sonnet-5", "a/sonnet-4-6") == "a/sonnet-5-5"

    def test_a_name_without_a_date_before_one_with(self) -> None:
        assert meant_among("haiku", "a/haiku-4-5-20251001", "a/haiku-4-5") == "a/haiku-4-5"
        assert meant_among("haiku-4", "a/haiku-4-2025-10-01", "a/haiku-4") == "a/haiku-4"
        assert meant_among("medium", "a/medium-2604", "a/medium-latest") == "a/medium-latest"

    def test_a_version_is_no_part_of_a_later_one(self) -> None:
        assert meant_among("gpt-6", "a/gpt-6.2-sol", "a/gpt-6-sol") == "a/gpt-6-sol"
        assert meant_among("opus-5", "a/opus-5-5", "a/opus-5-20260701") == "a/opus-5-20260701"
        with pytest.raises(UsageError, match="no model matches `opus-4`"):
            meant_among("opus-4", "a/opus-4-8")

    def test_two_lines_are_an_error_that_lists_the_newest_of_each(self) -> None:
        with pytest.raises(UsageError, match=r"`a-` may be p/a-x-2, p/a-y \(name one of them\)"):
            meant_among("a-", "p/a-x-2", "p/a-x-1", "p/a-y")

    def test_sizes_are_no_versions(self) -> None:
        with pytest.raises(UsageError, match="may be p/oss-120b, p/oss-20b"):
            meant_among("oss", "p/oss-120b", "p/oss-20b")

    def test_a_long_list_is_cut(self) -> None:
        with pytest.raises(UsageError, match=r"x-f and 2 more \(name"):
            meant_among("x-", *(f"p/x-{letter}" for letter in "abcdefgh"))

    def test_of_several_providers_the_one_with_a_key(self) -> None:
        listed = ("a/oss-120b", "b/maker/oss-120b", "c/maker/oss-120b")
        assert meant_among("oss-120b", *listed, keys=("c",)) == "c/maker/oss-120b"
        assert meant_among("oss", *listed, keys=("a",)) == "a/oss-120b"

    def test_of_several_providers_the_one_that_needs_none(self) -> None:
        assert meant_among("coder", "a/coder", "free/coder") == "free/coder"

    def test_of_several_with_a_key_none(self) -> None:
        with pytest.raises(UsageError, match="`oss-120b` may be a/oss-120b, b/maker/oss-120b"):
            meant_among("oss-120b", "a/oss-120b", "b/maker/oss-120b", keys=("a", "b"))

    def test_of_several_without_a_key_none(self) -> None:
        with pytest.raises(UsageError, match="`oss-120b` may be a/oss-120b, b/oss-120b"):
            meant_among("oss-120b", "a/oss-120b", "b/oss-120b")

    def test_the_maker_before_a_reseller(self) -> None:
        listed = ("sells/xai/grok-4", "xai/grok-4", "sells/x-ai/grok-4")
        assert meant_among("grok", *listed, keys=("xai", "sells")) == "xai/grok-4"
        assert meant_among("grok", listed[0], listed[1], keys=("sells",)) == "sells/xai/grok-4"

    def test_a_key_does_not_turn_one_model_into_another(self) -> None:
        assert meant_among("grok-4", "xai/grok-4", "sells/x-ai/grok-4.3", keys=("sells",)) == "xai/grok-4"


class TestAProviderWithAnIdThatIsNotListed:
    @pytest.mark.parametrize(
        ("pattern", "model"),
        [
            ("ollama/qwen3:8b", "ollama/qwen3:8b"),
            ("ollama/qwen3:8b:high", "ollama/qwen3:8b:high"),
            ("ollama/hf.co/maker/model:Q4_K_M", "ollama/hf.co/maker/model:Q4_K_M"),
            ("openai/gpt-5.4", "openai/gpt-5.4"),
            ("openai/gpt-9-nova:max", "openai/gpt-9-nova:max"),
            ("openrouter/qwen/qwen3-coder", "openrouter/qwen/qwen3-coder"),
            ("openrouter/qwen/qwen3-coder:free", "openrouter/qwen/qwen3-coder:free"),
            ("vllm/Qwen/Qwen3-8B", "vllm/Qwen/Qwen3-8B"),
        ],
    )
    def test_it_is_taken_as_it_is(self, pattern: str, model: str) -> None:
        assert meant(pattern) == model

    def test_it_has_the_providers_api_and_url(self) -> None:
        model, _ = CATALOG.resolve("deepseek/deepseek-v9", has_key=keys_of())
        listed = CATALOG.models_of("deepseek")["deepseek-v4-pro"]
        assert (model.api, model.base_url, model.compat) == (listed.api, listed.base_url, listed.compat)
        assert model.cost == ModelCost()

    def test_it_thinks_if_a_level_is_asked_for(self) -> None:
        assert CATALOG.resolve("ollama/qwen3:8b:high", has_key=keys_of())[0].reasoning
        assert not CATALOG.resolve("ollama/qwen3:8b", has_key=keys_of())[0].reasoning
        assert not CATALOG.resolve("ollama/qwen3:8b:off", has_key=keys_of())[0].reasoning

    def test_a_dated_name_of_a_listed_model_is_that_model(self) -> None:
        model, _ = CATALOG.resolve("anthropic/claude-haiku-4-5-20251001", has_key=keys_of())
        listed = CATALOG.models_of("anthropic")["claude-haiku-4-5"]
        assert (model.id, model.context_window, model.cost) == (
            "claude-haiku-4-5-20251001",
            listed.context_window,
            listed.cost,
        )

    def test_a_variant_of_a_listed_model_is_that_model_at_a_price_nobody_knows(self) -> None:
        model, level = CATALOG.resolve("openrouter/x-ai/grok-4.3:nitro:low", has_key=keys_of())
        assert (model.id, model.context_window, level) == ("x-ai/grok-4.3:nitro", 1_000_000, ThinkingLevel.LOW)
        assert model.cost == ModelCost()

    @pytest.mark.parametrize("variant", ["free", "nitro", "floor", "thinking", "online", "exacto", "extended", "batch"])
    def test_a_variant_is_not_taken_for_a_misspelt_level(self, variant: str) -> None:
        assert meant(f"openrouter/x-ai/grok-4.3:{variant}") == f"openrouter/x-ai/grok-4.3:{variant}"

    @pytest.mark.parametrize("level", ["hgih", "hihg", "medum", "xhig", "minmal", "maxx"])
    def test_a_misspelt_level_of_a_listed_model_is_an_error(self, level: str) -> None:
        with pytest.raises(UsageError, match=f"no thinking level `{level}` .*off, minimal, low, medium, high"):
            meant(f"anthropic/claude-opus-5-5:{level}")

    def test_the_offline_pilot_has_one_model(self) -> None:
        with pytest.raises(UsageError, match=r"offline has no model `gpt` \(use offline/pilot\)"):
            meant("offline/gpt")

    def test_a_provider_name_that_begins_another_providers_id(self) -> None:
        assert meant("openai/gpt-oss-120b", "groq") == "groq/openai/gpt-oss-120b"
        assert meant("openai/gpt-oss-120b", "groq", "openai") == "groq/openai/gpt-oss-120b"
        assert meant("openai/gpt-oss-120b", "openai") == "openai/gpt-oss-120b"
        assert meant("openai/gpt-oss-120b") == "openai/gpt-oss-120b"

    def test_a_provider_that_the_person_set_up_is_the_one_that_is_meant(self) -> None:
        catalog = Catalog({"openai": {"base_url": "http://127.0.0.1:9000/v1"}})
        assert meant("openai/gpt-oss-120b", "groq", catalog=catalog) == "openai/gpt-oss-120b"


class TestFiles:
    @pytest.mark.parametrize("scheme", ["scripted", "replay"])
    @pytest.mark.parametrize("path", ["/tmp/a.jsonl", "a b.jsonl", "~/x:high", "C:/x", "/a/b:c/d.jsonl", "//a"])
    def test_the_path_is_taken_as_it_is(self, scheme: str, path: str) -> None:
        model, level = CATALOG.resolve(f"{scheme}:{path}", has_key=keys_of())
        assert (model.id, model.api, model.provider, level) == (path, scheme, scheme, None)
        assert CATALOG.resolve(model.full_id, has_key=keys_of())[0] == model

    @pytest.mark.parametrize("scheme", ["scripted", "replay"])
    def test_without_a_path_it_is_an_error(self, scheme: str) -> None:
        with pytest.raises(UsageError, match=f"write {scheme}:PATH"):
            meant(f"{scheme}:")

    def test_their_providers_need_no_key(self) -> None:
        assert not CATALOG.provider("scripted").needs_key
        assert not CATALOG.provider("replay").needs_key


class TestNothing:
    @pytest.mark.parametrize("pattern", ["", "   ", "\n"])
    def test_an_empty_name(self, pattern: str) -> None:
        with pytest.raises(UsageError, match="the name of the model is empty"):
            meant(pattern)

    @pytest.mark.parametrize("pattern", ["/", "/x", ":high", "anthropic/", "anthropic/:high", ":", "unknown/model"])
    def test_what_names_nothing(self, pattern: str) -> None:
        with pytest.raises(UsageError, match="no model matches"):
            meant(pattern)

    @pytest.mark.parametrize(
        ("pattern", "near"),
        [
            ("gpt5", "openai/gpt-5.5"),
            ("claud-opus", "anthropic/claude-opus"),
            ("deepsek-flash", "deepseek/deepseek-flash"),
        ],
    )
    def test_the_error_says_what_is_near(self, pattern: str, near: str) -> None:
        with pytest.raises(UsageError, match=f"did you mean .*{near}"):
            meant(pattern)

    def test_the_error_says_how_other_models_are_written(self) -> None:
        with pytest.raises(UsageError, match="PROVIDER/ID"):
            meant("zzzzzzzzz")

    def test_a_local_server_alone(self) -> None:
        with pytest.raises(UsageError, match=r"`ollama` is a provider that lists no models \(write ollama/ID"):
            meant("ollama")

    def test_every_error_is_one_line(self) -> None:
        for pattern in ("", "zzz", "a\nb", "claude", "offline/x", "ollama", "scripted:"):
            with pytest.raises(AgentcliError) as caught:
                meant(pattern.replace("\n", "_"))
            assert "\n" not in str(caught.value)


PIECES = (
    *("opus", "claude", "gpt-", "oss-120b", "grok-4.3", "qwen", "openai", "x-ai", "latest", "free", "high", "hgih"),
    *("-", "/", ":", "~", " ", "5", ".5", "6", "2025", "1001", "-20251001"),
)
words = st.lists(st.sampled_from(PIECES), max_size=7).map("".join)
starts = st.sampled_from(["", *(f"{name}/" for name in ORDER), "offline/", "replay:", "scripted:"])
ends = st.sampled_from(["", ":high", ":max", ":xhig", ":free"])


@given(starts, words, ends, st.sets(st.sampled_from(ORDER)))
def test_any_text_is_a_model_or_a_usage_error_and_a_model_is_found_again(
    start: str, word: str, end: str, keys: set[str]
) -> None:
    """What a session keeps of a model, `provider/id`, means the same model when the session is resumed."""
    has_key = keys_of(*keys)
    try:
        model, _ = CATALOG.resolve(start + word + end, has_key=has_key)
    except UsageError:
        return
    again, level = CATALOG.resolve(model.full_id, has_key=has_key)
    assert (again.full_id, level) == (model.full_id, None)


def _odd_spellings(model: Model) -> list[str]:
    spelt = [model.full_id, f" {model.provider} / {model.id}\t", f"{model.provider}/ {model.id}", model.id]
    spelt += [text.upper() for text in spelt] + [text.title() for text in spelt] + [model.full_id.replace(".", "-")]
    return [*spelt, *(f"{text}{end}" for text in spelt for end in (":high", " : HIGH"))]


KEY_SETS = [(), ORDER, ("groq",), ("openrouter",), ("groq", "openai"), ("openrouter", "cerebras")]


def test_however_a_listed_model_is_spelt_after_its_provider_it_is_that_one_whatever_keys_are_set() -> None:
    for model in LISTED:
        begins = re.compile(rf"\s*{model.provider}\s*/", re.I)
        for pattern in filter(begins.match, _odd_spellings(model)):
            for keys in KEY_SETS:
                assert CATALOG.resolve(pattern, has_key=keys_of(*keys))[0] == model, (pattern, keys)


def test_what_any_spelling_finds_is_found_again_by_its_id_whatever_keys_are_set() -> None:
    unlisted = ["openai/ gpt-oss-120b", "OpenAI/GPT-OSS-120B", "ollama/ qwen3 :8b", "openai/gpt-9 : high"]
    for pattern in [*unlisted, *(text for model in LISTED for text in _odd_spellings(model))]:
        for keys in KEY_SETS:
            try:
                model, _ = CATALOG.resolve(pattern, has_key=keys_of(*keys))
            except UsageError:
                continue
            assert CATALOG.find(model.provider, model.id, thinks=model.reasoning) == model
            assert CATALOG.resolve(model.full_id, has_key=keys_of(*keys))[0].full_id == model.full_id, (pattern, keys)


def test_whitespace_in_a_reference_does_not_make_another_model_of_it() -> None:
    for keys in (("groq",), ("openai",), ("groq", "openai"), ()):
        plain = meant("openai/gpt-oss-120b", *keys)
        for odd in ("openai/ gpt-oss-120b", " openai /gpt-oss-120b ", "OpenAI\t/ gpt-oss-120b"):
            assert meant(odd, *keys) == plain


class TestWhatWasKept:
    """`Catalog.find`: no key, and nothing that is like it, decides."""

    def test_an_id_is_taken_as_it_is_however_it_looks(self) -> None:
        for provider, id in (
            ("openai", "gpt-oss-120b"),
            ("ollama", "qwen3:high"),
            ("openai", "opus"),
            ("vllm", "a b/ c"),
        ):
            model = CATALOG.find(provider, id)
            assert (model.provider, model.id, model.reasoning) == (provider, id, False)
        assert CATALOG.find("ollama", "qwen3", thinks=True).reasoning

    def test_files_are_models_too(self) -> None:
        assert CATALOG.find("replay", "/tmp/a b.jsonl").full_id == "replay//tmp/a b.jsonl"

    def test_of_two_providers_that_differ_in_case_each_has_its_own(self) -> None:
        table = {"base_url": "http://127.0.0.1:9/v1"}
        catalog = Catalog({"mine": table, "Mine": table}, {"mine/x": {}, "Mine/x": {}})
        for full_id in ("mine/x", "Mine/x", "mine/new", "Mine/new"):
            assert meant(full_id, catalog=catalog) == full_id
            assert catalog.find(*full_id.split("/")).full_id == full_id

    @pytest.mark.parametrize(
        ("provider", "id", "says"),
        [
            ("gone", "opus", "no model matches `gone/opus`: there is no provider `gone`"),
            ("Anthropic", "claude-opus-5", "there is no provider `Anthropic`"),
            ("offline", "gpt", "offline has no model `gpt`"),
            ("openai", " ", "the name of the model is empty"),
        ],
    )
    def test_what_is_gone_is_an_error_and_no_other_model(self, provider: str, id: str, says: str) -> None:
        with pytest.raises(UsageError, match=says):
            CATALOG.find(provider, id)
