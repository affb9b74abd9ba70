"""What works in the sandbox as it does without."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentcli.agent.errors import ConfigError
from agentcli.tools.sandbox import sandbox as sandbox_module
from agentcli.tools.sandbox.backend import Unavailable
from agentcli.tools.sandbox.cgroup import Cgroup
from agentcli.tools.sandbox.policy import SandboxPolicy
from agentcli.tools.sandbox.sandbox import Sandbox
from agentcli.tools.toolset import ToolOptions, create_toolset
from tests.tools.conftest import Tools
from tests.tools.processes import unique, with_command
from tests.tools.sandbox.conftest import Place, make_sandbox
from tests.waiting import until

PYTHON = os.path.realpath(sys.executable)


async def test_commands_run_in_the_folder(inside: Tools, place: Place) -> None:
    answer = await inside.bash("pwd; echo new > new; cat new; id -u; exit 3")
    assert answer.text.startswith(f"{place.cwd}\nnew\n{os.getuid()}\n")
    assert answer.details.exit_code == 3
    assert (place.cwd / "new").read_text() == "new\n"


async def test_a_signal_is_told_as_one(inside: Tools) -> None:
    assert (await inside.bash("kill -TERM $$")).details.exit_code == 143


async def test_the_shell_calls_itself_as_ever(inside: Tools) -> None:
    assert (await inside.bash("nosuchcommand")).text.startswith("bash: line 1: nosuchcommand: command not found")


async def test_there_is_no_input(inside: Tools) -> None:
    assert (await inside.bash("cat; echo end")).text == "end"


async def test_a_long_command_runs(inside: Tools) -> None:
    assert (await inside.bash(f"x={'a' * 300_000}; echo ${{#x}}")).text == "300000"


async def test_its_temporary_folder_is_the_same_for_all_commands(inside: Tools) -> None:
    await inside.bash("echo kept > $TMPDIR/x; mktemp")
    assert (await inside.bash("cat $TMPDIR/x")).text == "kept"


async def test_git_commits(inside: Tools) -> None:
    answer = await inside.bash(
        "echo a > a; git add a; git commit -qm one; git log --format=%s; git checkout -qb b; git branch"
    )
    assert answer.text.startswith("one\n* b")


async def test_git_commits_from_a_folder_of_the_repository(place: Place, back_end: str) -> None:
    subprocess.run(["git", "init", "-q", str(place.cwd)], check=True)
    inner = place.cwd / "inner"
    inner.mkdir()
    sandbox = make_sandbox(SandboxPolicy(cwd=inner), place.folder / "private", back_end)
    toolset = create_toolset(options := ToolOptions(cwd=inner, sandbox=sandbox))
    tools = Tools(toolset, options)
    answer = await tools.bash("echo a > a; git add a; git commit -qm one && git log --format=%s; echo no > ../no")
    await toolset.close()
    assert answer.text.startswith("one\n") and not (place.cwd / "no").exists()


async def test_git_commits_in_a_worktree(place: Place, back_end: str) -> None:
    main = place.folder / "main"
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=main, check=True)
    tree = place.folder / "tree"
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=main, check=True)
    sandbox = make_sandbox(SandboxPolicy(cwd=tree), place.folder / "private", back_end)
    toolset = create_toolset(options := ToolOptions(cwd=tree, sandbox=sandbox))
    tools = Tools(toolset, options)
    answer = await tools.bash("git commit -q --allow-empty -m one && git log -1 --format=%s; echo no > ../main/no")
    await tools.bash("printf '#!/bin/sh\\n' > ../main/.git/hooks/post-commit")
    await toolset.close()
    assert answer.text.startswith("one\n") and not (main / "no").exists()
    assert not (main / ".git/hooks/post-commit").exists()


def test_a_clone_cannot_name_the_repository_of_another(place: Place) -> None:
    other = place.folder / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    (place.cwd / ".git").write_text(f"gitdir: {other}/.git\n")
    assert SandboxPolicy(cwd=place.cwd).folders() == [place.cwd]


async def test_c_is_compiled(inside: Tools) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no compiler here")
    answer = await inside.bash("echo 'int main(void) { return 7; }' > a.c && cc -o a a.c && ./a")
    assert answer.details.exit_code == 7


async def test_python_tests_run(inside: Tools, place: Place) -> None:
    (place.cwd / "test_a.py").write_text(
        "import tempfile, unittest, multiprocessing\n"
        "class A(unittest.TestCase):\n"
        "    def test_a(self):\n"
        "        with tempfile.NamedTemporaryFile() as f: f.write(b'x')\n"
        "        with multiprocessing.get_context('fork').Pool(2) as pool: self.assertEqual(pool.map(abs, [-1]), [1])\n"
    )
    answer = await inside.bash(f"{PYTHON} -m unittest -q")
    assert not answer.is_error, answer.text


async def test_npm_installs_from_the_folder(inside: Tools, place: Place) -> None:
    if shutil.which("npm") is None:
        pytest.skip("no npm here")
    (place.cwd / "dep").mkdir()
    (place.cwd / "dep" / "package.json").write_text('{"name": "dep", "version": "1.0.0"}')
    (place.cwd / "package.json").write_text('{"name": "a", "version": "1.0.0", "dependencies": {"dep": "file:dep"}}')
    answer = await inside.bash(
        "npm install --offline --no-audit && rm -rf node_modules && npm ci --offline --no-audit && ls node_modules",
        timeout=90,
    )
    assert answer.text.rstrip().endswith("dep"), answer.text


async def test_what_is_left_running_is_named_and_ends(inside: Tools) -> None:
    sleep = unique(987)
    answer = await inside.bash(f"{sleep} & echo started")
    assert "Still running in the background (job" in answer.text and sleep in answer.text
    await inside.toolset.close()
    assert not with_command(sleep)


async def test_a_server_is_reached_by_the_next_command(inside: Tools, back_end: str) -> None:
    if back_end == "Landlock":
        pytest.skip("it cannot tell this network from others; agentcli doctor says so")
    await inside.bash(f"exec {PYTHON} -m http.server 8123 --bind 127.0.0.1", background=True)
    fetch = "import time, urllib.request as u\nfor _ in range(100):\n try: print(u.urlopen('http://127.0.0.1:8123').status); break\n except OSError: time.sleep(0.05)"
    assert (await inside.bash(f'{PYTHON} -c "{fetch}"')).text == "200"


async def test_a_timeout_ends_all_of_it(inside: Tools) -> None:
    sleep = unique(654)
    answer = await inside.bash(f"{sleep} | {sleep}", timeout=0.5)
    assert "the command and all it had started were killed" in answer.text
    assert not with_command(sleep)


async def test_a_refusal_is_told(inside: Tools, place: Place) -> None:
    answer = await inside.bash(f"echo no > {place.outside}/new")
    assert "It ran in the sandbox, which may have refused it a file." in answer.text
    assert "unsandboxed=true" in answer.text
    answer = await inside.bash(f"{PYTHON} -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'")
    assert "refused it the network" in answer.text
    assert "sandbox" not in (await inside.bash("false")).text


async def test_a_command_can_run_outside(inside: Tools, place: Place) -> None:
    await inside.bash(f"echo yes > {place.outside}/new", unsandboxed=True)
    assert (place.outside / "new").read_text() == "yes\n"


async def test_a_folder_that_was_exchanged_is_the_new_one(inside: Tools, place: Place) -> None:
    shutil.rmtree(place.cwd)
    place.cwd.mkdir()
    await inside.bash("echo new > new")
    assert (place.cwd / "new").read_text() == "new\n"


async def test_what_a_command_had_changed_is_put_back_and_told(inside: Tools, place: Place) -> None:
    answer = await inside.bash("mkdir .agentcli; echo evil > .agentcli/SYSTEM.md")
    assert ".agentcli, which says what runs later: it is now .agentcli.set-aside" in answer.text
    assert (place.cwd / ".agentcli.set-aside" / "SYSTEM.md").read_text() == "evil\n"


async def test_only_temporary_files_in_read_only(place: Place, back_end: str) -> None:
    sandbox = make_sandbox(SandboxPolicy(cwd=place.cwd, writes=False), place.folder / "private", back_end)
    toolset = create_toolset(options := ToolOptions(cwd=place.cwd, sandbox=sandbox))
    answer = await Tools(toolset, options).bash("echo a > $TMPDIR/a; cat $TMPDIR/a; echo a > a; touch ../a; ls -a")
    await toolset.close()
    assert answer.text.startswith("a\n") and not list(place.cwd.iterdir())


async def test_a_folder_in_a_private_place_can_be_read(tmp_path: Path, back_end: str) -> None:
    (inner := tmp_path / "work" / "inner").mkdir(parents=True)
    (tmp_path / "work" / "above").write_text("read")
    subprocess.run(["git", "init", "-q", str(inner.parent)], check=True)
    sandbox = make_sandbox(SandboxPolicy(cwd=inner, writes=False), tmp_path / "private", back_end)
    toolset = create_toolset(options := ToolOptions(cwd=inner, sandbox=sandbox))
    answer = await Tools(toolset, options).bash("cat ../above; echo no > new; echo no > ../above")
    await toolset.close()
    assert answer.text.startswith("read") and not (inner / "new").exists()
    assert (tmp_path / "work" / "above").read_text() == "read"


async def test_programs_in_a_private_place_are_found(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back_end: str
) -> None:
    (tool := tmp_path / "bin" / "my-tool").parent.mkdir()
    tool.write_text("#!/bin/sh\necho found")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    sandbox = make_sandbox(SandboxPolicy(cwd=place.cwd), place.folder / "private", back_end)
    toolset = create_toolset(options := ToolOptions(cwd=place.cwd, sandbox=sandbox))
    answer = await Tools(toolset, options).bash("my-tool; echo no > $(dirname $(command -v my-tool))/new")
    await toolset.close()
    assert answer.text.startswith("found") and not (tool.parent / "new").exists()


async def test_what_is_hidden_stays_so_in_the_home_folder(place: Place, back_end: str) -> None:
    if back_end == "Landlock":
        pytest.skip("it cannot hide what lies in a folder that can be written to; agentcli doctor says so")
    own = place.home / ".agentcli"
    (own / "spill").mkdir(parents=True)
    (own / "auth.toml").write_text("SECRET")
    (own / "spill" / "a").write_text("output")
    policy = SandboxPolicy(cwd=place.home, hidden=(own,), shown=(own / "spill",))
    toolset = create_toolset(
        options := ToolOptions(cwd=place.home, sandbox=make_sandbox(policy, place.folder / "private", back_end))
    )
    answer = await Tools(toolset, options).bash(
        "cat .ssh/id .agentcli/auth.toml; cat .agentcli/spill/a; echo a > .agentcli/b"
    )
    await toolset.close()
    assert "SECRET" not in answer.text and "PRIVATE" not in answer.text and "output" in answer.text
    assert sorted(path.name for path in own.iterdir()) == ["auth.toml", "spill"]


async def test_what_is_made_writable_and_hidden(place: Place, back_end: str) -> None:
    (place.outside / "secret").write_text("SECRET")
    policy = SandboxPolicy(
        cwd=place.cwd, writable=(place.outside,), hidden=(place.home / "x", place.outside / "secret")
    )
    (place.home / "x").mkdir()
    (place.home / "x" / "y").write_text("SECRET")
    sandbox = make_sandbox(policy, place.folder / "private", back_end)
    toolset = create_toolset(options := ToolOptions(cwd=place.cwd, sandbox=sandbox))
    answer = await Tools(toolset, options).bash(f"echo a > {place.outside}/a; cat {place.home}/x/y")
    inner = await Tools(toolset, options).bash(f"cat {place.outside}/secret")
    await toolset.close()
    assert (place.outside / "a").exists() and "SECRET" not in answer.text
    assert ("SECRET" in inner.text) == (back_end == "Landlock")


async def test_the_end_of_agentcli_ends_the_sandbox(place: Place, back_end: str) -> None:
    if back_end == "Landlock":
        pytest.skip("its commands are found by their marks")
    make_sandbox(SandboxPolicy(cwd=place.cwd), place.folder / "private", back_end).close()
    sleep = unique(543)
    code = (
        "import os, subprocess, sys; from pathlib import Path\n"
        "from agentcli.tools.sandbox.policy import SandboxPolicy; from agentcli.tools.sandbox.sandbox import Sandbox\n"
        f"s = Sandbox(SandboxPolicy(cwd=Path({str(place.cwd)!r})), Path({str(place.folder)!r}), 'bubblewrap')\n"
        f"l = s.launch(['/bin/sleep', '{sleep[6:]}'], Path({str(place.cwd)!r}))\n"
        "subprocess.Popen(l.argv, pass_fds=l.descriptors, start_new_session=True)\n"
        "print('up', flush=True); import time; time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.kill()
    await until(lambda: not with_command(sleep))


def test_without_any_back_end_nothing_starts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    class Nothing:
        name = "nothing"
        tmp = limits = ""

        def start(self) -> None:
            raise Unavailable("it is a test")

    monkeypatch.setattr(sandbox_module, "back_ends", lambda *_: [Nothing()])
    with pytest.raises(ConfigError, match="nothing: it is a test"):
        Sandbox(SandboxPolicy(cwd=place.cwd), place.folder)


def test_a_program_of_the_folder_is_not_taken(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentcli.tools.sandbox.bubblewrap import _program

    evil = place.cwd / "bin"
    evil.mkdir()
    (evil / "sh").write_text("#!/bin/true\n")
    (evil / "sh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{evil}:.:/bin:/usr/bin")
    assert not Path(_program("sh", place.cwd)).is_relative_to(place.cwd)


def test_a_group_of_version_2_gets_limits(tmp_path: Path) -> None:
    parent = tmp_path / "cgroup" / "app.slice"
    (parent / "me.scope").mkdir(parents=True)
    (parent / "cgroup.subtree_control").write_text("memory pids\n")
    (parent / "cgroup.procs").write_text("")
    own = tmp_path / "own"
    own.write_text("0::/app.slice/me.scope\n")
    group = Cgroup(tmp_path / "cgroup", own)
    group.make()
    (folder,) = group.folders
    assert folder.parent == parent and (folder / "pids.max").read_text() == "4096"
    assert int((folder / "memory.max").read_text()) > 1 << 20
    assert str(folder / "cgroup.procs") in group.prefix()


async def test_a_fork_bomb_meets_the_limit(inside: Tools, back_end: str) -> None:
    sandbox = inside.options.sandbox
    assert sandbox is not None
    groups = getattr(getattr(sandbox.back_end, "_cgroup", None), "folders", [])
    pids = next((folder / "pids.max" for folder in groups if (folder / "pids.max").exists()), None)
    if pids is None:
        pytest.skip("no cgroup with a limit on processes here")
    pids.write_text("40")
    answer = await inside.bash("for i in $(seq 100); do sleep 5 & done; wait", timeout=10)
    assert "Resource temporarily unavailable" in answer.text
