"""The configuration file: what is wrong with it is one line that says where."""

from pathlib import Path

import pytest

from agentcli.agent.errors import ConfigError, CredentialsError
from agentcli.agent.models import Provider
from agentcli.config.credentials import find_key, hidden_variables, require_key
from agentcli.config.load import load_settings
from agentcli.config.paths import config_file, home, make_private, require_home
from agentcli.config.settings import Settings


def load(tmp_path: Path, text: str | bytes) -> Settings:
    file = tmp_path / "config.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_settings(file)


def test_without_a_file_everything_is_at_its_default(tmp_path: Path):
    assert load_settings(tmp_path / "none.toml") == Settings()


def test_one_table_adds_a_server(tmp_path: Path):
    settings = load(
        tmp_path,
        """
        model = "mine/qwen:high"
        [providers.mine]
        base_url = "http://127.0.0.1:9/v1"
        api_key_env = "MY_KEY"
        """,
    )
    assert settings.model == "mine/qwen:high"
    assert settings.provider_overrides() == {"mine": {"base_url": "http://127.0.0.1:9/v1", "api_key_env": ["MY_KEY"]}}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("model = \n", 1, "Invalid value"),
        ('# fine\nmodel = "a"\nmodel = "b"\n', 3, "overwrite"),
        ('model = "a"\nbash_timeout = "ten"\n', 2, "bash_timeout"),
        ("bash_timeout = 0\n", 1, "bash_timeout: Expected seconds > 0"),
        ('\n\nthinking_level = "huge"\n', 3, "thinking_level"),
        ('steering_mode = "some"\n', 1, "steering_mode"),
        ('[providers.a]\nbase_url = "x"\n[providers.b]\nbase_url = 5\n', 4, "base_url"),
        ("[retry]\nmax_retries = 1.5\n", 2, "max_retries"),
        ("[retry]\nmax_retries = -1\n", 2, "retry.max_retries: Expected retries >= 0"),
        ("[compaction]\nreserve_tokens = -1\n", 2, "compaction.reserve_tokens: Expected tokens >= 0"),
        (
            '[permissions]\nask = ["bash", "no rule"]\n',
            2,
            "permissions.ask[1]: 'no rule' does not fit; write tool, tool(path)",
        ),
        ('[permissions]\nask = ["bash\\n"]\n', 2, "does not fit"),
        ('[providers.a]\nlabel = "x"\n[providers.b]\nheaders = { X = "x", Y = 2 }\n', 4, "providers.b.headers.Y: "),
        ('providers = "none"\n', 1, "providers"),
        ("\nnotify_after = -1\n", 2, "notify_after"),
        ('notify = "loud"\n', 1, "notify"),
        ('[keys]\nsubmit = "enter"\nabort = 5\n', 3, "keys.abort"),
        ('[keys]\nabort = []\nsubmit = ["enter", 1]\n', 3, "keys.submit"),
        ('\nkeys.abort = "x"\nkeys.submit = 1\n', 3, "keys.submit"),
        ('[environment]\nA = "a"\nB = 2\n', 3, "environment.B"),
        ('[models."a/b"]\ncontext_window = 1\n[models]\n"c/d" = 3\n', 4, "models.c/d"),
        ("\nidle_timeout = 0\n", 2, "idle_timeout"),
        ("first_token_timeout = nan\n", 1, "first_token_timeout"),
        ('idle_timeout = "5 min"\n', 1, "idle_timeout"),
        (b'model = "caf\xe9"\n', 1, "UTF-8"),
        (b'model = "x"\n# caf\xe9\n', 2, "UTF-8"),
    ],
)
def test_a_wrong_file_is_one_line_that_says_where(tmp_path: Path, text: str | bytes, line: int, says: str):
    with pytest.raises(ConfigError) as error:
        load(tmp_path, text)
    assert error.value.message.startswith(f"{tmp_path}/config.toml:{line}: ")
    assert says in error.value.message
    assert "\n" not in str(error.value)


def test_a_folder_in_its_place_and_a_file_that_cannot_be_read_are_told(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path)


def test_unknown_keys_are_warnings_that_say_where(tmp_path: Path):
    settings = load(tmp_path, 'modle = "x"\n[providers.mine]\nbase_url = "y"\nbase_uri = "z"\n[retry]\nmax = 3\n')
    assert settings.providers["mine"].base_url == "y"
    assert [warning.removeprefix(f"{tmp_path}/config.toml") for warning in settings.warnings] == [
        ":1: unknown key modle; it is ignored",
        ":6: unknown key retry.max; it is ignored",
        ":4: unknown key providers.mine.base_uri; it is ignored",
    ]


def test_a_bom_and_windows_line_ends_are_fine(tmp_path: Path):
    assert load(tmp_path, b'\xef\xbb\xbfmodel = "x"\r\n\r\n[retry]\r\nmax_retries = 1\r\n').retry.max_retries == 1


def test_the_home_folder_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("AGENTCLI_HOME", str(tmp_path / "x"))
    assert config_file() == tmp_path / "x" / "config.toml"
    assert not home().exists()
    assert make_private(home()).stat().st_mode & 0o777 == 0o700


def test_without_a_home_folder_nothing_is_there_and_what_needs_one_says_what_to_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AGENTCLI_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert not home().exists() and load_settings(config_file()) == Settings()
    for needs in (require_home, lambda: make_private(home() / "sessions")):
        with pytest.raises(ConfigError, match="AGENTCLI_HOME"):
            needs()


MINE = Provider(name="mine", label="My server", api_key_env=["MY_KEY", "OTHER_KEY"])


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({}, None),
        ({"MY_KEY": ""}, None),
        ({"MY_KEY": "  \n"}, None),
        ({"MY_KEY": "  sk-test \n"}, "sk-test"),
        ({"MY_KEY": "", "OTHER_KEY": "sk-2"}, "sk-2"),
    ],
)
def test_a_key_comes_from_the_first_variable_that_is_set(monkeypatch: pytest.MonkeyPatch, environment, key):
    for name in MINE.api_key_env:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert find_key(MINE) == key


def test_a_missing_key_names_the_variables(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    monkeypatch.delenv("OTHER_KEY", raising=False)
    with pytest.raises(CredentialsError, match="MY_KEY or OTHER_KEY"):
        require_key(MINE)


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("sk-te\u028bst", "U\\+028B at position 6"),
        ("sk-\u200btest", "U\\+200B at position 4"),
        ("sk te", "U\\+0020.* 3"),
    ],
)
def test_a_key_that_fits_no_header_is_refused_by_place_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, key: str, place: str
):
    monkeypatch.setenv("MY_KEY", key)
    with pytest.raises(CredentialsError, match=place) as error:
        require_key(MINE)
    assert "sk" not in str(error.value)


def test_children_see_no_key_of_any_provider():
    assert {"OPENAI_API_KEY", "MY_KEY", "OTHER_KEY", "LOCAL_API_KEY"} <= hidden_variables(
        [MINE, Provider(name="local")]
    )


def test_hostile_toml_of_ones_own_is_one_line_that_says_where(tmp_path: Path):
    for text, line, says in (
        ("# deep\nx=" + "[" * 50_000, 2, "deeper than"),
        ("a=1\n" + ".".join("x" * 100_000), 2, "deeper than"),
        ("x = " + "1" * 200_000, 1, "digits"),
    ):
        with pytest.raises(ConfigError) as error:
            load(tmp_path, text)
        assert error.value.message.startswith(f"{tmp_path}/config.toml:{line}: ") and says in error.value.message
