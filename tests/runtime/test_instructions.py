"""What the model is told: agentcli's own instructions, and those of the person and the repository."""

from pathlib import Path

from agentcli.agent.messages import text_of
from agentcli.runtime.resources.context_files import MAX_BYTES, find_context_files
from agentcli.runtime.resources.system_prompt import BASE, build_system_prompt, prompt_parts
from tests.agent.doubles import say
from tests.cli.command import Command
from tests.fake_server import FakeServer
from tests.files.judges import any_file
from tests.files.repository import make_repository
from tests.runtime.conftest import Make


def write(folder: Path, text: str | bytes, name: str = "AGENTS.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def texts(home: Path, cwd: Path) -> list[str]:
    return [file.text for file in find_context_files(home, cwd, any_file)[0]]


def test_files_come_from_home_then_from_the_root_down_to_the_folder(tmp_path: Path):
    write(tmp_path, "outside")
    root = tmp_path / "repo"
    make_repository(root)
    deep = root / "a" / "b"
    for folder, text in (
        (tmp_path / "home", "home"),
        (root, "root"),
        (root / "a", "a"),
        (deep, "b"),
        (deep / "c", "c"),
    ):
        write(folder, text)
    assert texts(tmp_path / "home", deep) == ["home", "root", "a", "b"]


def test_outside_of_a_repository_only_the_folder_itself_counts(tmp_path: Path):
    write(tmp_path, "above")
    write(tmp_path / "work", "here")
    assert texts(tmp_path / "home", tmp_path / "work") == ["here"]


def test_one_file_a_folder_and_agents_before_claude(tmp_path: Path):
    write(tmp_path, "claude", "CLAUDE.md")
    assert texts(tmp_path / "home", tmp_path) == ["claude"]
    write(tmp_path, "agents")
    assert texts(tmp_path / "home", tmp_path) == ["agents"]


def test_a_folder_of_that_name_is_passed_over(tmp_path: Path):
    (tmp_path / "AGENTS.md").mkdir()
    write(tmp_path, "claude", "CLAUDE.md")
    assert texts(tmp_path / "home", tmp_path) == ["claude"]


def test_a_link_to_a_file_that_was_read_is_not_read_again(tmp_path: Path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "AGENTS.md").symlink_to(write(tmp_path / "work", "once"))
    assert texts(tmp_path / "home", tmp_path / "work") == ["once"]


def test_no_encoding_stops_a_start(tmp_path: Path):
    for data, text in (
        ("alpha\r\nbéta\r\n".encode("utf-16"), "alpha\r\nbéta"),
        (b"\xef\xbb\xbfalpha", "alpha"),
        (b"caf\xe9", "caf\ufffd"),
        (b"", None),
    ):
        write(tmp_path, data)
        assert texts(tmp_path / "home", tmp_path) == ([text] if text else [])


def test_a_file_that_is_too_long_is_cut_and_told(tmp_path: Path):
    write(tmp_path, "x" * (MAX_BYTES + 1))
    files, notices = find_context_files(tmp_path / "home", tmp_path, any_file)
    assert len(files[0].text) == MAX_BYTES
    assert "first 64 KiB" in notices[0]


def test_parts_can_be_replaced_and_appended(tmp_path: Path):
    parts = prompt_parts(tmp_path, base="be a poet", appended=["in French"])
    assert build_system_prompt(parts) == f"be a poet\n\nin French\n\nThe folder: {tmp_path}"


async def test_a_run_tells_the_model_what_the_folder_says(make: Make, tmp_path: Path):
    write(tmp_path / "work", "use tabs")
    runtime = make([say("ok")])
    await runtime.prompt("hi")
    prompt = runtime.options.stream_fn.requests[0].system_prompt
    assert prompt.startswith(BASE)
    assert "\nuse tabs\n</instructions>" in prompt
    assert text_of(runtime.last_message.content) == "ok"


def test_a_first_request_is_small(tmp_path: Path):
    """At most 5.4 kB on the wire with the four tools and without context files."""
    server = FakeServer.start_in_thread()
    command = Command(tmp_path / "work", tmp_path / "home")
    command.use_server(server.url)
    server.answer("ok")
    command.run("run", "hello")
    server.stop()
    assert len(server.requests[0].raw) <= 5400
