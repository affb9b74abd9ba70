"""Where a key comes from, and that it is known to masking from then on."""

import os
import stat
from pathlib import Path

import pytest

from agentcli.agent.errors import CredentialsError
from agentcli.agent.models import Provider
from agentcli.config import key_store
from agentcli.config.credentials import (
    find_key,
    forget_key,
    has_key,
    hidden_variables,
    is_quick,
    key_source,
    require_key,
)
from agentcli.config.masking import mask

KEY = "sk-CANARY-1234567890"


def provider(command: str = "") -> Provider:
    return Provider(name="mine", label="My server", api_key_env=["MY_KEY"], api_key_command=command)


class FakeKeyring:
    """A keyring in memory."""

    priority = 5

    def __init__(self) -> None:
        self.keys: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, name: str) -> str | None:
        from keyring.errors import KeyringLocked

        if self.locked:
            raise KeyringLocked(f"the value {KEY} is locked")
        return self.keys.get((service, name))

    def set_password(self, service: str, name: str, key: str) -> None:
        self.keys[service, name] = key

    def delete_password(self, service: str, name: str) -> None:
        del self.keys[service, name]


@pytest.fixture
def fake_keyring(monkeypatch: pytest.MonkeyPatch) -> FakeKeyring:
    import keyring

    fake = FakeKeyring()
    for name in ("get_password", "set_password", "delete_password"):
        monkeypatch.setattr(keyring, name, getattr(fake, name))
    monkeypatch.setattr(keyring, "get_keyring", lambda: fake)
    return fake


def test_the_environment_comes_before_the_command_and_that_before_what_is_stored(monkeypatch: pytest.MonkeyPatch):
    key_store.store_key("mine", "from-the-file", in_keyring=False)
    assert (find_key(provider()), key_source(provider())) == ("from-the-file", "auth.toml")
    with_command = provider("echo from-the-command")
    assert (find_key(with_command), key_source(with_command)) == ("from-the-command", "key command")
    monkeypatch.setenv("MY_KEY", "from-the-environment")
    assert (find_key(with_command), key_source(with_command)) == ("from-the-environment", "MY_KEY")


@pytest.mark.parametrize("lookup", ["environment", "command", "file", "keyring"])
def test_every_key_that_is_found_is_masked(lookup: str, monkeypatch: pytest.MonkeyPatch, fake_keyring: FakeKeyring):
    mine = provider(f"printf ' {KEY}\\n\\n'" if lookup == "command" else "")
    if lookup == "environment":
        monkeypatch.setenv("MY_KEY", f"  {KEY} \n")
    if lookup in ("file", "keyring"):
        key_store.store_key("mine", KEY, in_keyring=lookup == "keyring")
    assert require_key(mine) == KEY
    assert "CANARY" not in mask(f"the key is {KEY}.")


def test_a_key_command_runs_once_and_again_when_the_server_has_refused_its_key(tmp_path: Path):
    count = tmp_path / "count"
    mine = provider(f"echo x >> {count}; echo sk-from-command")
    assert not is_quick(mine)
    assert [find_key(mine) for _ in range(3)] == ["sk-from-command"] * 3
    assert is_quick(mine)
    forget_key(mine)
    find_key(mine)
    assert count.read_text() == "x\nx\n"


def test_whether_there_is_a_key_is_said_without_running_the_command(tmp_path: Path):
    mine = provider(f"touch {tmp_path}/ran; echo k")
    assert has_key(mine)
    assert not (tmp_path / "ran").exists()


def test_a_key_command_gets_no_other_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert find_key(provider('echo "key-${OPENAI_API_KEY:-none}-x"')) == "key-none-x"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("echo sk-CANARY; echo CANARY >&2; exit 3", "exit code 3"),
        ("true", "printed nothing"),
        ("echo ' '", "printed nothing"),
        ("/no/such/command", "exit code 127"),
    ],
)
def test_a_key_command_that_fails_is_told_without_its_output(command: str, says: str):
    with pytest.raises(CredentialsError, match=says) as error:
        find_key(provider(command))
    assert "CANARY" not in str(error.value)
    assert "providers.mine.api_key_command" in str(error.value)


def test_a_missing_key_names_the_variable_the_setting_and_the_file(home: Path):
    with pytest.raises(CredentialsError) as error:
        require_key(provider())
    for part in ("MY_KEY", "agentcli auth login mine", "providers.mine.api_key_command", str(home / "config.toml")):
        assert part in str(error.value)


def test_stored_keys_are_private_whatever_the_umask(home: Path):
    before = os.umask(0)
    try:
        key_store.store_key("mine", KEY, in_keyring=False)
        key_store.store_key("other", "sk-other-key", in_keyring=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE((home / "auth.toml").stat().st_mode) == 0o600
    assert key_store.stored_key("mine") == KEY
    assert [path.name for path in home.iterdir()] == ["auth.toml"]


def test_a_key_file_that_others_can_read_is_refused(home: Path):
    key_store.store_key("mine", KEY, in_keyring=False)
    (home / "auth.toml").chmod(0o644)
    with pytest.raises(CredentialsError, match="chmod 600"):
        find_key(provider())


@pytest.mark.parametrize(
    "text", [f"mine = '{KEY}", f'[mine]\nkey = "{KEY}', "[mine]\nkey = 5\n", f'mine = "{KEY}"\n', "\xff"]
)
def test_a_broken_key_file_is_told_without_what_it_holds(home: Path, text: str):
    file = home / "auth.toml"
    file.write_bytes(text.encode("latin-1"))
    file.chmod(0o600)
    with pytest.raises(CredentialsError, match=r"auth\.toml") as error:
        find_key(provider())
    assert "CANARY" not in str(error.value)


def test_the_keyring_holds_the_key_and_the_file_says_so(home: Path, fake_keyring: FakeKeyring):
    key_store.store_key("mine", KEY, in_keyring=True)
    assert KEY not in (home / "auth.toml").read_text()
    assert (key_source(provider()), is_quick(provider())) == ("keyring", False)
    assert key_store.remove_key("mine")
    assert fake_keyring.keys == {}
    assert find_key(provider()) is None
    assert not key_store.remove_key("mine")


def test_a_keyring_that_is_locked_is_told_without_the_key(fake_keyring: FakeKeyring):
    key_store.store_key("mine", KEY, in_keyring=True)
    fake_keyring.locked = True
    with pytest.raises(CredentialsError, match="KeyringLocked") as error:
        find_key(provider())
    assert "CANARY" not in str(error.value)


def test_the_keyring_is_not_asked_for_providers_it_knows_nothing_of(fake_keyring: FakeKeyring):
    fake_keyring.locked = True
    assert find_key(provider()) is None


def test_a_person_may_let_commands_have_a_key():
    assert "HF_TOKEN" in hidden_variables([])
    assert "HF_TOKEN" not in hidden_variables([], ["HF_TOKEN"])
