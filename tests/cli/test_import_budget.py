"""No command imports more before its first useful act than it may: by name, in `import_budget.toml`."""

from importlib.util import find_spec

import pytest

from tests.cli.command import Command
from tests.cli.import_budget import COMMANDS, LIBRARY, budget, imported
from tests.fake_server import FakeServer


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_command_imports_what_it_may_and_nothing_else(command: Command, server: FakeServer, arguments: str):
    command.use_server(server.url)
    found = imported(command, arguments, COMMANDS[arguments])
    assert "agentcli.__main__" in found
    new = sorted(found - budget()[arguments])
    assert not new, f"`agentcli {arguments}` imports {', '.join(new)} before its first useful act: see import_budget.py"


def test_the_budget_names_what_there_is():
    named = {name for names in budget().values() for name in names} - LIBRARY
    assert not [name for name in named if name.startswith("agentcli") and find_spec(name) is None]


def test_nobody_pays_for_what_only_the_app_or_an_sdk_needs():
    unwanted = {"textual", "rich", "pydantic", "anthropic", "openai", "PIL", "keyring", "pygments", "markdown_it"}
    for arguments, names in budget().items():
        assert not names & (unwanted - ({"textual", "rich"} if not arguments else set())), arguments
