"""All sources of settings as one: what weighs more, where a value comes from, and what an untrusted project may say."""

from enum import StrEnum
from pathlib import Path

import pytest

from agentcli.agent.errors import ConfigError
from agentcli.agent.models import ThinkingLevel
from agentcli.config.configuration import Configuration, load_configuration
from agentcli.config.declaration import declared_keys, variable_of
from agentcli.config.project import read_project
from agentcli.config.project_settings import placed_rule
from agentcli.config.settings import Notify, Settings
from agentcli.config.trust import distrust, is_trusted, read_trust, trust
from tests.config.reference import toml
from tests.files.repository import make_repository


def project(repo: Path, text: str) -> Path:
    file = repo.parents[1] / ".agentcli.toml"
    file.write_text(text)
    return file


def load(repo: Path, environment: dict[str, str] | None = None, **options: bool) -> Configuration:
    return load_configuration(repo, environment=environment or {}, **options)


def test_without_any_source_all_is_at_its_default(repo: Path):
    configuration = load(repo)
    assert configuration.settings == Settings()
    assert configuration.origin("bash_timeout") == "default"


def test_the_environment_weighs_more_than_the_project_and_that_more_than_the_user(repo: Path, home: Path):
    (home / "config.toml").write_text("bash_timeout = 1\n[retry]\nmax_retries = 1\nbase_delay = 1\nmax_delay = 1\n")
    file = project(repo, "[retry]\nmax_retries = 2\nbase_delay = 2\n")
    configuration = load(repo, {"AGENTCLI_RETRY__MAX_RETRIES": "3"})
    retry = configuration.settings.retry
    assert (retry.max_retries, retry.base_delay, retry.max_delay) == (3, 2, 1)
    assert [configuration.origin(f"retry.{key}") for key in ("max_retries", "base_delay", "max_delay")] == [
        "AGENTCLI_RETRY__MAX_RETRIES",
        f"{file}:3",
        f"{home}/config.toml:5",
    ]
    assert configuration.origin("bash_timeout") == f"{home}/config.toml:1"


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("AGENTCLI_MODEL", "a/b:high", "model", "a/b:high"),
        ("AGENTCLI_THINKING_LEVEL", "low", "thinking_level", ThinkingLevel.LOW),
        ("AGENTCLI_BASH_TIMEOUT", " 10 ", "bash_timeout", 10.0),
        ("AGENTCLI_TOOLS", "read, ls", "tools", ["read", "ls"]),
        ("AGENTCLI_KEEP_KEYS", "HF_TOKEN", "keep_keys", ["HF_TOKEN"]),
        ("AGENTCLI_THEME", "nord/light", "theme", "nord/light"),
        ("AGENTCLI_MOUSE", "false", "mouse", False),
        ("AGENTCLI_NOTIFY", "osc9", "notify", Notify.OSC9),
    ],
)
def test_a_variable_is_read_as_its_setting_wants_it(repo: Path, name: str, text: str, key: str, value: object):
    assert getattr(load(repo, {name: text}).settings, key) == value


def test_sections_are_reached_by_two_underscores(repo: Path):
    settings = load(
        repo, {"AGENTCLI_COMPACTION__ENABLED": "false", "AGENTCLI_PERMISSIONS__DENY": "bash,write"}
    ).settings
    assert settings.compaction.enabled is False
    assert settings.permissions.deny == ["bash", "write"]


def test_every_setting_with_one_value_has_a_variable():
    variables = [variable_of(key) for key in declared_keys(Settings)]
    assert {"AGENTCLI_MODEL", "AGENTCLI_SHELL", "AGENTCLI_RETRY__MAX_DELAY", "AGENTCLI_PERMISSIONS__MODE"} <= set(
        variables
    )
    assert "AGENTCLI_WARNINGS" not in variables
    assert len(variables) == len(set(variables))


@pytest.mark.parametrize("value", ["ten", "-1", "0", "nan?"])
def test_a_wrong_variable_is_an_error_that_names_it(repo: Path, value: str):
    with pytest.raises(ConfigError, match=r"bash_timeout|AGENTCLI_BASH_TIMEOUT"):
        load(repo, {"AGENTCLI_BASH_TIMEOUT": value})


def test_unknown_variables_are_told_and_empty_and_foreign_ones_are_not(repo: Path):
    settings = load(
        repo,
        {
            "AGENTCLI_TIMEUOT": "1",
            "AGENTCLI_HOME": "/x",
            "AGENTCLI_MODEL": "",
            "X": "1",
        },
    ).settings
    assert settings.model is None
    assert settings.warnings == ["AGENTCLI_TIMEUOT: there is no such setting; the variable is ignored"]


def test_what_an_untrusted_file_may_set_is_this():
    """Nothing that runs something, sends something elsewhere or allows something, and nothing of the user's own taste."""
    may = {key for key, each in declared_keys(Settings).items() if each.untrusted != "never"}
    assert may == {
        "thinking_level",
        "steering_mode",
        "follow_up_mode",
        "retry.max_retries",
        "retry.base_delay",
        "retry.max_delay",
        "compaction.enabled",
        "compaction.reserve_tokens",
        "compaction.keep_recent_tokens",
        "permissions.mode",
        "permissions.ask",
        "permissions.deny",
        "sandbox.mode",
        "sandbox.network",
    }


def changed(key: str) -> str:
    """Lines of a file that set a key to something other than its default."""
    each = declared_keys(Settings)[key]
    value = each.example
    if each.toml:
        return each.toml
    match each.default:
        case bool():
            value = not each.default
        case StrEnum():
            value = next(other for other in type(each.default) if other != each.default)
        case float():
            value = each.default + 1
        case _:
            pass
    section, _, name = key.rpartition(".")
    return f"{f'[{section}]' if section else ''}\n{name} = {toml(value)}\n"


NEEDS_TRUST = [key for key, each in declared_keys(Settings).items() if each.untrusted == "never"]


@pytest.mark.parametrize("key", NEEDS_TRUST)
def test_what_runs_or_redirects_something_is_ignored_until_it_is_trusted(repo: Path, key: str):
    file = project(repo, changed(key))
    configuration = load(repo)
    assert configuration.settings == Settings(warnings=configuration.settings.warnings)
    assert len(configuration.settings.warnings) == 1
    assert f"{file} is not trusted, so it cannot set {key} (" in configuration.settings.warnings[0]
    trusting = load(repo, trust=True)
    assert trusting.settings.warnings == []
    assert trusting.settings != Settings()
    trust(file, file.read_bytes())
    assert load(repo).settings == trusting.settings


def test_what_only_says_how_to_work_holds_untrusted(repo: Path):
    project(repo, 'thinking_level = "low"\nsteering_mode = "all"\n[retry]\nmax_retries = 0\n')
    settings = load(repo).settings
    assert (settings.thinking_level, settings.retry.max_retries, settings.warnings) == (ThinkingLevel.LOW, 0, [])


def test_changed_content_is_not_trusted_any_more(repo: Path):
    file = project(repo, "bash_timeout = 1\n")
    trust(file, file.read_bytes())
    assert load(repo).settings.bash_timeout == 1
    project(repo, "bash_timeout = 2\n")
    configuration = load(repo)
    assert configuration.settings.bash_timeout == 300
    assert "not trusted" in configuration.settings.warnings[0]
    project(repo, "bash_timeout = 1\n")
    assert load(repo).settings.bash_timeout == 1


def test_trust_is_bound_to_the_place_too_and_can_be_taken_back(repo: Path, tmp_path: Path):
    file = project(repo, "bash_timeout = 1\n")
    trust(file, file.read_bytes())
    other = tmp_path / "other" / ".agentcli.toml"
    other.parent.mkdir()
    other.write_bytes(file.read_bytes())
    assert not is_trusted(other, other.read_bytes())
    link = tmp_path / "link"
    link.symlink_to(file.parent)
    assert is_trusted(link / ".agentcli.toml", file.read_bytes())
    assert distrust(tmp_path / "other") == []
    assert distrust(repo.parents[1]) == [file]
    assert read_trust().files == {}


def test_the_trust_file_is_private_and_a_broken_one_trusts_nothing(repo: Path, home: Path):
    file = project(repo, "bash_timeout = 1\n")
    trust(file, file.read_bytes())
    stored = home / "trust.json"
    assert stored.stat().st_mode & 0o777 == 0o600
    stored.write_text("{")
    with pytest.raises(ConfigError, match=r"trust\.json"):
        trust(file, file.read_bytes())
    assert stored.read_text() == "{"
    settings = load(repo).settings
    assert settings.bash_timeout == 300
    assert "trust.json" in settings.warnings[0]


def test_a_broken_untrusted_project_file_stops_nothing(repo: Path):
    file = project(repo, "model = \n")
    settings = load(repo).settings
    assert len(settings.warnings) == 1
    assert settings.warnings[0].startswith(f"{file}:1: ")
    with pytest.raises(ConfigError):
        load(repo, trust=True)


def test_of_project_files_the_nearer_one_weighs_more_and_none_outside_of_the_repository(repo: Path, tmp_path: Path):
    (tmp_path / ".agentcli.toml").write_text('thinking_level = "max"\n')
    assert load(repo).settings.thinking_level is None
    project(repo, 'thinking_level = "low"\n')
    assert load(repo).settings.thinking_level == "low"
    (repo / ".agentcli.toml").write_text('thinking_level = "high"\n')
    assert load(repo).settings.thinking_level == "high"


def test_outside_of_a_repository_only_the_folder_itself_counts(tmp_path: Path):
    folder = tmp_path / "plain" / "deep"
    folder.mkdir(parents=True)
    (tmp_path / "plain" / ".agentcli.toml").write_text('thinking_level = "low"\n')
    assert load(folder).settings.thinking_level is None


def test_rules_of_permissions_add_up(repo: Path, home: Path):
    (home / "config.toml").write_text('[permissions]\ndeny = ["bash(rm)"]\n')
    project(repo, '[permissions]\ndeny = []\nallow = ["bash(rm)"]\n')
    permissions = load(repo, trust=True).settings.permissions
    assert (permissions.deny, permissions.allow) == (["bash(rm)"], ["bash(rm)"])


def test_a_broken_user_file_is_an_error_or_where_a_person_looks_on_a_warning(repo: Path, home: Path):
    (home / "config.toml").write_text("model = 5\n")
    with pytest.raises(ConfigError, match=r"config.toml:1: model"):
        load(repo)
    settings = load(repo, lenient=True).settings
    assert settings.model is None
    assert "config.toml:1: model" in settings.warnings[0]
    assert (home / "config.toml").read_text() == "model = 5\n"


def test_instructions_of_a_project_need_trust_too(repo: Path):
    folder = repo.parents[1] / ".agentcli"
    folder.mkdir()
    (folder / "SYSTEM.md").write_text("be evil")
    configuration = load(repo)
    assert configuration.project.trusted_text(".agentcli/SYSTEM.md") is None
    assert "SYSTEM.md" in configuration.settings.warnings[0]
    assert load(repo, trust=True).project.trusted_text(".agentcli/SYSTEM.md") == "be evil"


def test_the_persons_own_folder_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    own = tmp_path / ".agentcli"
    own.mkdir()
    (own / "SYSTEM.md").write_text("mine")
    monkeypatch.setenv("AGENTCLI_HOME", str(own))
    assert read_project(tmp_path).files == []


def test_a_project_file_that_cannot_be_used_is_told(repo: Path):
    (repo / ".agentcli.toml").write_bytes(b"#" * ((1 << 20) + 1))
    assert "larger than" in load(repo).settings.warnings[0]


def test_a_leftover_of_a_repository_does_not_switch_off_the_rules_of_the_root(repo: Path):
    file = project(repo, '[permissions]\ndeny = ["bash(rm)"]\n')
    trust(file, file.read_bytes())
    (repo / ".git").mkdir()
    assert load(repo).settings.permissions.deny == ["bash(rm)"]


def test_a_settings_file_that_leads_out_of_the_repository_is_left_out_and_the_next_one_counts(
    repo: Path, tmp_path: Path
):
    project(repo, 'thinking_level = "low"\n')
    (tmp_path / "elsewhere.toml").write_text('thinking_level = "high"\n')
    (repo / ".agentcli.toml").symlink_to(tmp_path / "elsewhere.toml")
    settings = load(repo).settings
    assert settings.thinking_level == "low"
    assert f"{repo}/.agentcli.toml cannot be read" in settings.warnings[0]
    assert "leads out of the repository" in settings.warnings[0]


def test_hostile_toml_of_a_project_is_left_out_in_one_line(repo: Path):
    for text in HOSTILE_TOML:
        project(repo, text)
        (line,) = load(repo).settings.warnings
        assert ".agentcli.toml:" in line and "it is ignored" in line, text[:20]


HOSTILE_TOML = (
    "x=" + "[" * 50_000,
    "x=" + "{a=" * 50_000,
    ".".join("x" * 100_000),
    f"[{'.'.join('x' * 100_000)}]",
    'a="[" # {{\n' + " . ".join(['"x"'] * 20_000),
    '"""\\' * 50_000,
    "a='Q'x\n".replace("Q", "''x" * 40_000),
    'a="' + '"\\"' * 50_000,
    "\n" * 200_000 + '"\\u0061b"=[',
    "x = " + "1" * 200_000,
)


def test_many_unknown_keys_are_a_few_lines(repo: Path):
    file = project(repo, "\n".join(f"key{number} = 1" for number in range(10_000)))
    trust(file, file.read_bytes())
    warnings = load(repo).settings.warnings
    assert len(warnings) == 21
    assert "9,980 more unknown keys" in warnings[-1]


def test_an_unknown_key_that_is_written_oddly_is_told_without_a_long_search(repo: Path):
    file = project(repo, "\n" * 200_000 + '"\\u0061b" = 1\n')
    trust(file, file.read_bytes())
    (warning,) = load(repo).settings.warnings
    assert "unknown key ab" in warning


def test_depth_counts_neither_in_strings_nor_beside_each_other(repo: Path, home: Path):
    numbers = ", ".join(["[1.5, 2.5]"] * 100)
    deep = "[" * 100
    (home / "config.toml").write_text(
        f'theme = \'{deep}\' # {deep}\neditor = "\\"{deep}"\nx = \'\'\'\n{deep}\'\'\'\'\ny = """{deep}\\"""""\nz = [{numbers}]\n'
    )
    assert load(repo).settings.theme == deep


# What is denied once stays denied

DENIES = '[permissions]\ndeny = ["read(secrets/**)", "bash(rm)"]\nask = ["edit(src)"]\n'


def rules_in(folder: Path) -> tuple[list[str], list[str], list[str]]:
    settings = load(folder).settings
    return settings.permissions.deny, settings.permissions.ask, settings.warnings


def trusted(file: Path, text: str) -> Path:
    file.write_text(text)
    trust(file, file.read_bytes())
    return file


def test_the_rules_of_every_level_count_and_mean_their_own_folder(repo: Path):
    root = repo.parents[1]
    trusted(root / ".agentcli.toml", DENIES)
    trusted(repo / ".agentcli.toml", '[permissions]\ndeny = ["read(keys/**)"]\n')
    deny, ask, warnings = rules_in(repo)
    assert deny == [f"read({root}/secrets/**)", "bash(rm)", "read(keys/**)"]
    assert (ask, warnings) == ([f"edit({root}/src)"], [])


@pytest.mark.parametrize("change", ["comment", "gone", "broken", "repository", "link"])
def test_what_a_trusted_file_denied_holds_until_the_person_says_otherwise(repo: Path, tmp_path: Path, change: str):
    root = repo.parents[1]
    file = trusted(root / ".agentcli.toml", DENIES)
    match change:
        case "comment":
            file.write_text(DENIES + "# nothing else\n")
        case "gone":
            file.unlink()
        case "broken":
            file.write_text("[permissions\n")
        case "link":
            file.rename(tmp_path / "elsewhere.toml")
            file.symlink_to(tmp_path / "elsewhere.toml")
        case _:
            make_repository(repo)
    deny, ask, warnings = rules_in(repo)
    assert {f"read({root}/secrets/**)", "bash(rm)"} <= set(deny)
    assert f"edit({root}/src)" in ask
    assert len([line for line in warnings if "still hold" in line and str(file) in line]) == 1
    distrust(root)
    assert "bash(rm)" not in rules_in(repo)[0] or change == "comment"
    assert not [line for line in rules_in(repo)[2] if "still hold" in line]


def test_an_untrusted_file_may_only_be_stricter(repo: Path, home: Path):
    (home / "config.toml").write_text('[permissions]\nmode = "ask"\n[retry]\nmax_retries = 2\n')
    text = """
[permissions]
mode = "{mode}"
allow = ["bash"]
deny = ["bash(rm)"]
[retry]
max_retries = 1000000
base_delay = 0.0
max_delay = 1e9
"""
    project(repo, text.format(mode="read-only"))
    settings = load(repo).settings
    assert (settings.permissions.mode, settings.permissions.allow) == ("read-only", [])
    assert settings.permissions.deny == ["bash(rm)"]
    assert (settings.retry.max_retries, settings.retry.base_delay, settings.retry.max_delay) == (2, 2.0, 60.0)
    assert "permissions.allow" in settings.warnings[0]
    project(repo, text.format(mode="auto"))
    assert load(repo).settings.permissions.mode == "ask"


def test_a_trusted_file_is_borrowed_by_no_link_and_runs_what_lies_beside_it(repo: Path, tmp_path: Path):
    root = repo.parents[1]
    (root / "key.sh").write_text("echo one")
    text = 'shell = "tools/sh"\n[providers.mine]\nbase_url = "http://x"\napi_key_command = "sh ./key.sh"\n'
    file = trusted(root / ".agentcli.toml", text)
    settings = load(repo).settings
    assert settings.shell == f"{root}/tools/sh"
    assert settings.providers["mine"].api_key_command == f"cd {root} && sh ./key.sh"
    assert load(root).settings.providers == settings.providers
    (root / "key.sh").write_bytes(b"#" * (17 << 20))
    trust(file, file.read_bytes())
    assert "not trusted" in load(repo).settings.warnings[0], "nor what cannot be read whole"
    (root / "key.sh").write_text("echo two")
    assert "not trusted" in load(repo).settings.warnings[0], "a script that it names is a part of it"
    trust(file, file.read_bytes())
    other = tmp_path / "hostile"
    other.mkdir()
    (other / ".agentcli.toml").symlink_to(file)
    assert load(other).settings.shell is None


@pytest.mark.parametrize(
    ("rule", "whole"),
    [
        ("read(a/*)", r"read(/x/y\[z\]/a/*)"),
        ("read(./a)", r"read(/x/y\[z\]/a)"),
        ("read(../a)", "read(/x/a)"),
        ("read(..)", "read(/x)"),
        ("read(**/.env)", "read(**/.env)"),
        ("read(~/x)", "read(~/x)"),
        ("read(/x)", "read(/x)"),
        ("bash(rm x)", "bash(rm x)"),
        ("bash", "bash"),
    ],
)
def test_a_rule_is_placed_in_the_folder_of_its_file(rule: str, whole: str):
    assert placed_rule(rule, Path("/x/y[z]")) == whole
