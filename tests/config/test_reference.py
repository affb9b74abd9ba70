"""The example file, the page about configuration and the JSON Schema follow from the declarations, and so does the rest."""

import re
import sys
from pathlib import Path
from typing import Annotated

import pytest

from agentcli.agent.errors import ConfigError
from agentcli.config import load
from agentcli.config.configuration import load_configuration
from agentcli.config.declaration import declared_keys, setting, settings_schema
from agentcli.config.edit import set_key
from agentcli.config.load import load_settings
from agentcli.config.settings import Settings
from agentcli.config.trust import trust
from tests.config.reference import EXAMPLE, PAGE, example_file, page, shown


@pytest.mark.parametrize(("file", "made"), [(EXAMPLE, example_file()), (PAGE, page())], ids=["example", "page"])
def test_generated_files_are_not_stale(file: Path, made: str):
    assert file.read_text() == made, "run `python -m tests.config.reference`"


def test_the_example_file_is_true(tmp_path: Path):
    """As it stands it sets nothing; with the lines of its keys uncommented, it sets what it shows."""
    assert load_settings(EXAMPLE) == Settings()
    file = tmp_path / "config.toml"
    file.write_text(re.sub(r"^# (?=\w+ = |\[)", "", EXAMPLE.read_text(), flags=re.M))
    settings = load_settings(file)
    assert settings.warnings == []
    for key, each in declared_keys(Settings).items():
        value = settings
        for part in key.split("."):
            value = getattr(value, part)
        assert value == shown(each) if not each.toml else value, key


def test_the_schema_describes_every_setting():
    for definition in settings_schema(Settings)["$defs"].values():
        for key, each in definition.get("properties", {}).items():
            assert each["description"], key


# A new setting is one declaration


class MoreSettings(Settings, frozen=True, kw_only=True):
    patience: Annotated[float, setting("How long to wait.", gt=0, unit="minutes", untrusted="lower")] = 5.0
    helper: Annotated[str | None, setting("What helps.", example="tools/help", is_command=True, relative="program")] = (
        None
    )
    colours: Annotated[dict[str, str], setting("Colours by name.", toml='[colours]\nsky = "blue"\n')] = {}


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> None:
    """`MoreSettings` in place of `Settings` in every module of the package."""
    for name, module in list(sys.modules.items()):
        if name.startswith("agentcli.config.") and getattr(module, "Settings", None) is Settings:
            monkeypatch.setattr(module, "Settings", MoreSettings)
    assert load.Settings is MoreSettings


@pytest.mark.usefixtures("more")
def test_a_new_setting_is_checked_in_files_and_variables(tmp_path: Path, home: Path):
    file = home / "config.toml"
    file.write_text("mouse = true\npatience = 0\n")
    with pytest.raises(ConfigError, match=r"config\.toml:2: patience: Expected minutes > 0"):
        load_settings(file)
    file.write_text("patience = 3\n[colours]\nSky = 'blue'\n")
    assert set_key("patience", "2") == 2
    settings = load_settings(file)
    assert (settings.patience, settings.colours, settings.warnings) == (2, {"Sky": "blue"}, [])
    given = {"AGENTCLI_PATIENCE": "1", "AGENTCLI_COLOURS__SKY": "grey, green"}
    configuration = load_configuration(tmp_path, environment=given)
    assert (configuration.settings.patience, configuration.settings.colours) == (1, {"Sky": "grey, green"})
    assert configuration.settings.warnings == []
    assert configuration.origin("patience") == "AGENTCLI_PATIENCE"
    with pytest.raises(ConfigError, match="AGENTCLI_PATIENCE: Expected minutes > 0"):
        load_configuration(tmp_path, environment={"AGENTCLI_PATIENCE": "-1"})


@pytest.mark.usefixtures("more")
@pytest.mark.parametrize(("wanted", "holds"), [(9, 5), (2, 2)])
def test_an_untrusted_file_may_do_with_a_new_setting_what_it_declares(repo: Path, wanted: int, holds: int):
    file = repo / ".agentcli.toml"
    file.write_text(f"patience = {wanted}\nhelper = 'tools/help'\n")
    settings = load_configuration(repo, environment={}).settings
    assert (settings.patience, settings.helper) == (holds, None)
    (warning,) = settings.warnings
    assert "cannot set helper (" in warning
    (repo / "tools").mkdir()
    (repo / "tools" / "help").write_text("one")
    trust(file, file.read_bytes())
    settings = load_configuration(repo, environment={}).settings
    assert (settings.patience, settings.helper) == (wanted, f"{repo}/tools/help")
    (repo / "tools" / "help").write_text("two")
    assert load_configuration(repo, environment={}).settings.helper is None, "what it runs is a part of what is trusted"


def test_a_new_setting_is_in_the_schema_the_example_and_the_page():
    schema = settings_schema(MoreSettings)["$defs"]["MoreSettings"]["properties"]
    assert schema["patience"] == {
        "description": "How long to wait.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 5.0,
    }
    assert "\n# How long to wait.\n# patience = 5.0\n" in example_file(MoreSettings)
    assert '\n# Colours by name.\n# [colours]\n# sky = "blue"\n' in example_file(MoreSettings)
    text = page(MoreSettings)
    start = text.index("### `patience`\n")
    entry = text[start : text.index("### ", start + 1)]
    for fact in ("number > 0 (minutes)", "`5.0`", "`AGENTCLI_PATIENCE`", "only a lower value"):
        assert fact in entry
    assert "## `[colours]`" in text
