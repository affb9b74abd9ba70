"""Changing the configuration file: one key, and nothing else."""

from pathlib import Path

import pytest

from agentcli.agent.errors import ConfigError, UsageError
from agentcli.config.edit import add_permission_rule, set_key, split_key
from agentcli.config.load import load_settings


def test_comments_order_and_layout_stay(home: Path):
    file = home / "config.toml"
    file.write_text('# mine\nmodel = "a/b"  # the good one\n\n[retry]\n# patience\nmax_retries = 1\n')
    set_key("retry.max_retries", "4")
    set_key("model", "c/d")
    assert file.read_text() == '# mine\nmodel = "c/d"  # the good one\n\n[retry]\n# patience\nmax_retries = 4\n'
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_and_its_tables_are_made(home: Path):
    set_key("bash_timeout", "12.5")
    set_key("providers.mine.base_url", "http://127.0.0.1:1/v1")
    set_key('models."mine/m1".max_tokens', "100")
    settings = load_settings(home / "config.toml")
    assert settings.bash_timeout == 12.5
    assert settings.providers["mine"].base_url == "http://127.0.0.1:1/v1"
    assert settings.models == {"mine/m1": {"max_tokens": 100}}


def test_a_bom_and_windows_line_ends_stay(home: Path):
    file = home / "config.toml"
    file.write_bytes(b'\xef\xbb\xbfmodel = "x"\r\n\r\n# end\r\n')
    set_key("bash_timeout", "5")
    data = file.read_bytes()
    assert data.startswith(b'\xef\xbb\xbfmodel = "x"\r\n')
    assert b"\n" not in data.replace(b"\r\n", b"")
    assert load_settings(file).bash_timeout == 5


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("bash_timeout", "ten", ConfigError),
        ("bash_timeout", "-1", ConfigError),
        ("retry", "5", ConfigError),
        ("permissions.allow", '["bash(rm"]', ConfigError),
        ("nope", "5", UsageError),
        ("retry.nope", "5", UsageError),
        ("model.x", "5", UsageError),
        ("", "5", UsageError),
        ("a b", "5", UsageError),
        ("a.", "5", UsageError),
    ],
)
def test_what_would_be_wrong_changes_nothing(home: Path, key: str, value: str, error: type[Exception]):
    file = home / "config.toml"
    file.write_text('model = "a/b"\n')
    with pytest.raises(error) as raised:
        set_key(key, value)
    assert "\n" not in str(raised.value)
    assert file.read_text() == 'model = "a/b"\n'
    assert [path.name for path in home.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("content", [b"model = \n", b"bash_timeout = 'x'\n", b"# caf\xe9\n"])
def test_a_file_that_is_wrong_is_not_touched(home: Path, content: bytes):
    file = home / "config.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError):
        set_key("model", "x")
    assert file.read_bytes() == content


def test_a_link_stays_a_link(home: Path, tmp_path: Path):
    real = tmp_path / "dotfiles.toml"
    real.write_text("")
    (home / "config.toml").symlink_to(real)
    set_key("model", "x")
    assert (home / "config.toml").is_symlink()
    assert load_settings(real).model == "x"


def test_rules_are_added_once_and_read_back(home: Path):
    (home / "config.toml").write_text('[permissions]\nallow = [\n  "read",  # always\n]\n')
    for _ in range(2):
        add_permission_rule("allow", "bash(git status)")
    add_permission_rule("deny", "bash(rm)")
    permissions = load_settings(home / "config.toml").permissions
    assert permissions.allow == ["read", "bash(git status)"]
    assert permissions.deny == ["bash(rm)"]
    assert "# always" in (home / "config.toml").read_text()


def test_keys_are_split_at_their_dots_but_not_in_quotes():
    assert split_key('models."a/b.c".input') == ["models", "a/b.c", "input"]
