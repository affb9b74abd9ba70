"""Repositories in all their forms: what the user's own git runs later is not what a command in the sandbox has said."""

import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from msgspec import Struct

from agentcli.agent.errors import ConfigError
from agentcli.tools.sandbox.policy import SandboxPolicy
from agentcli.tools.sandbox.proxy import HostProxy
from agentcli.tools.sandbox.sandbox import Sandbox
from agentcli.tools.toolset import ToolOptions, create_toolset
from tests.tools.conftest import Tools
from tests.tools.sandbox.conftest import Place, make_sandbox
from tests.waiting import until

HOOK = "printf '#!/bin/sh\\necho ESCAPED\\n' >"
MONITOR = "core.fsmonitor 'echo ESCAPED >&2; false'"
COMMIT = "git commit --allow-empty -m x"
LIBRARY = (
    "git init -q ../lib; (cd ../lib; echo a>a; git add a; git commit -qm x); git commit -q --allow-empty -m r;"
    "git -c protocol.file.allow=always submodule --quiet add ../lib sub; git commit -qm s;"
)


class Attempt(Struct, frozen=True):
    before: str
    """What the user has done before the sandbox begins."""
    command: str
    """What a command in it tries."""
    after: str
    """What the user does then."""


ATTEMPTS = {
    "a hook of a repository below": Attempt(
        "git init -q vendor; cd vendor; git commit -q --allow-empty -m x",
        f"{HOOK} vendor/.git/hooks/pre-commit; chmod +x vendor/.git/hooks/pre-commit",
        f"cd vendor; {COMMIT}",
    ),
    "the configuration of a repository below": Attempt(
        "git init -q a/b/vendor", f"cd a/b/vendor; git config {MONITOR}", "cd a/b/vendor; git status"
    ),
    "a directory with a repository that is exchanged": Attempt(
        "git init -q a/vendor",
        f"cp -r a evil; git -C evil/vendor config {MONITOR}; mv a old && mv evil a",
        "cd a/vendor && git status",
    ),
    "the .git of a submodule": Attempt(
        LIBRARY,
        f"cp -r .git/modules/sub .evil; git config -f .evil/config {MONITOR}; git config -f .evil/config core.worktree ../sub;"
        "rm sub/.git; echo 'gitdir: ../.evil' > sub/.git",
        "git status",
    ),
    "the modules that are exchanged": Attempt(
        LIBRARY,
        f"cd .git; cp -r modules m2; git config -f m2/sub/config {MONITOR}; mv modules m3; mv m2 modules",
        "git status",
    ),
    "hooks of a submodule that has none": Attempt(
        f"{LIBRARY} rm -rf .git/modules/sub/hooks",
        f"mkdir .git/modules/sub/hooks; {HOOK} .git/modules/sub/hooks/pre-commit; chmod +x .git/modules/sub/hooks/*",
        f"cd sub; {COMMIT}",
    ),
    "the worktrees that are exchanged": Attempt(
        "git commit -q --allow-empty -m 1; git worktree add -q ../tree",
        f"cp -r .git evil; git config -f evil/config {MONITOR}; cd .git; cp -r worktrees w2;"
        "echo ../../../evil > w2/tree/commondir; mv worktrees w3; mv w2 worktrees",
        "cd ../tree; git status",
    ),
    "hooks that are a link, exchanged": Attempt(
        "rm -rf .git/hooks; mkdir kept; ln -s ../kept .git/hooks",
        f"rm .git/hooks; mkdir .git/hooks; {HOOK} .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        COMMIT,
    ),
    "what hooks that are a link lead to": Attempt(
        "rm -rf .git/hooks; mkdir kept; ln -s ../kept .git/hooks; cp /bin/true kept/pre-commit",
        f"{HOOK} kept/pre-commit; chmod +x kept/pre-commit",
        COMMIT,
    ),
    "a configuration that is a link": Attempt(
        "mv .git/config ../config; ln -s ../../config .git/config",
        f"cp .git/config c; rm .git/config; mv c .git/config; git config {MONITOR}",
        "git status; test -L .git/config || echo ESCAPED",
    ),
    "the directory of hooks that the configuration names": Attempt(
        "mkdir -p .husky/_; git config core.hooksPath .husky/_; cp /bin/true .husky/_/pre-commit",
        f"{HOOK} .husky/_/pre-commit; chmod +x .husky/_/pre-commit",
        COMMIT,
    ),
    "a file that the configuration includes": Attempt(
        "touch team.gitconfig; git config include.path ../team.gitconfig",
        f"git config -f team.gitconfig {MONITOR}",
        "git status",
    ),
    "a hook that is too large to be kept": Attempt(
        "(echo '#!/bin/sh'; head -c 1500000 /dev/zero | tr '\\0' '#') > .git/hooks/pre-commit;"
        "chmod +x .git/hooks/pre-commit",
        f"{HOOK} .git/hooks/pre-commit",
        COMMIT,
    ),
    "a hook from the background": Attempt(
        "true",
        f"(sleep 0.3; {HOOK} .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; sleep 9) > /dev/null 2>&1 &",
        f"sleep 2; {COMMIT}",
    ),
}

Begin = Callable[..., Awaitable[Tools]]


def by_user(command: str, place: Place) -> str:
    done = subprocess.run(["sh", "-c", command], cwd=place.cwd, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture
async def begin(place: Place, back_end: str) -> AsyncIterator[Begin]:
    """Starts the sandbox once the repository is as a test wants it."""
    subprocess.run(["git", "init", "-q", str(place.cwd)], check=True)
    started: list[Tools] = []

    async def start(**policy: object) -> Tools:
        wanted = SandboxPolicy(**{"cwd": place.cwd, **policy})  # type: ignore[arg-type]
        sandbox = make_sandbox(wanted, place.folder / "private", back_end)
        options = ToolOptions(cwd=wanted.cwd, sandbox=sandbox, spill_dir=place.folder / "spill", bash_timeout_s=20)
        started.append(Tools(create_toolset(options), options))
        return started[-1]

    yield start
    for tools in started:
        await tools.toolset.close()


@pytest.mark.parametrize("name", ATTEMPTS)
async def test_nothing_is_left_that_git_runs(name: str, begin: Begin, place: Place) -> None:
    attempt = ATTEMPTS[name]
    by_user(attempt.before, place)
    inside = await begin()
    await inside.bash(attempt.command)
    assert "ESCAPED" not in by_user(attempt.after, place)
    assert [path.name for path in place.outside.iterdir()] == ["kept"]


async def test_a_bare_repository_keeps_its_hooks(begin: Begin, place: Place) -> None:
    shutil.rmtree(place.cwd)
    subprocess.run(["git", "init", "-q", "--bare", str(place.cwd)], check=True)
    await (await begin()).bash(f"{HOOK} hooks/pre-receive")
    assert not (place.cwd / "hooks" / "pre-receive").exists()


@pytest.mark.parametrize(
    ("before", "command"),
    [
        ("mkdir -p .agentcli/sub; echo evil > .agentcli/sub/kept", "rm -rf .agentcli/sub; ln -s $OUT .agentcli/sub"),
        ("echo evil > .git/hooks/kept", "rm -rf .git/hooks; ln -s $OUT .git/hooks"),
        ("rm -rf .git/info; touch $OUT/attributes", "ln -s $OUT .git/info"),
        ("git init -q $OUT; rm -f $OUT/kept", "mv .git old; ln -s $OUT/.git .git"),
        ("git init -q a; cp -r a/.git $OUT", "mv a old; ln -s $OUT a"),
    ],
)
async def test_a_link_does_not_lead_agentcli_outside(
    before: str, command: str, begin: Begin, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in place.outside.rglob("*") if path.is_file()}

    monkeypatch.setenv("OUT", str(place.outside))
    by_user(before, place)
    outside = content()
    await (await begin()).bash(command)
    assert content() == outside


async def test_what_the_user_saves_meanwhile_stays_protected(begin: Begin, place: Place) -> None:
    (place.cwd / ".agentcli.toml").write_text("bash_timeout = 99\n")
    inside = await begin()
    await inside.bash("true")
    by_user("git config user.name me; sed s/99/98/ .agentcli.toml > t; mv t .agentcli.toml", place)
    await inside.bash(f"git config {MONITOR}; echo evil > .agentcli.toml")
    assert "ESCAPED" not in by_user("git status", place)
    assert by_user("git config user.name", place) == "me\n"
    assert (place.cwd / ".agentcli.toml").read_text() == "bash_timeout = 98\n"


async def test_secrets_that_are_written_meanwhile_stay_hidden(begin: Begin, place: Place) -> None:
    (place.home / ".git-credentials").write_text("PRIVATE-KEY")
    inside = await begin()
    await inside.bash("true")
    (place.home / "new").write_text("PRIVATE-KEY")
    (place.home / "new").rename(place.home / ".git-credentials")
    (place.home / ".netrc").write_text("PRIVATE-KEY")
    (place.home / ".aws").mkdir()
    (place.home / ".aws" / "credentials").write_text("PRIVATE-KEY")
    answer = await inside.bash("cat ~/.git-credentials ~/.netrc ~/.aws/credentials")
    assert "PRIVATE-KEY" not in answer.text


async def test_what_is_in_the_sandbox_stays_when_the_user_saves(begin: Begin, place: Place) -> None:
    inside = await begin()
    await inside.bash("echo mine > $TMPDIR/note")
    by_user("git config user.name me", place)
    assert (await inside.bash("cat $TMPDIR/note")).text.startswith("mine")


async def test_a_directory_that_contains_the_working_one_keeps_what_runs_later(begin: Begin, place: Place) -> None:
    (place.cwd / ".agentcli.toml").write_text("bash_timeout = 99\n")
    inside = await begin(writable=(place.folder,))
    await inside.bash("echo evil > .agentcli.toml; mkdir .agentcli; echo evil > .agentcli/SYSTEM.md")
    assert (place.cwd / ".agentcli.toml").read_text() == "bash_timeout = 99\n"
    assert not (place.cwd / ".agentcli").exists()


async def test_git_works_in_a_submodule(begin: Begin, place: Place) -> None:
    by_user(LIBRARY, place)
    inside = await begin(cwd=place.cwd / "sub")
    answer = await inside.bash(COMMIT)
    assert not answer.is_error and "x" in by_user("git -C sub log --oneline -1", place)
    await inside.bash(f"git config {MONITOR}; {HOOK} ../.git/modules/sub/hooks/pre-commit")
    assert "ESCAPED" not in by_user("git status; cd sub; git status; git commit --allow-empty -m y", place)


async def test_many_changes_are_few_lines_and_moved_aside_once(begin: Begin, place: Place) -> None:
    inside = await begin()
    made = "mkdir -p .git/hooks; for i in $(seq 40); do echo x > .git/hooks/h$i; done; mkdir .agentcli; true"
    answer = await inside.bash(made)
    assert len(answer.text.splitlines()) < 60
    await inside.bash("true")
    paths = (*place.cwd.iterdir(), *(place.cwd / ".git" / "hooks").iterdir())
    assert not [path.name for path in paths if path.name.count("set-aside") > 1]


@pytest.mark.parametrize("back_end", ["Landlock"])
async def test_what_changes_between_commands_is_told(begin: Begin, place: Place) -> None:
    inside = await begin()
    await inside.bash("true")
    sandbox = inside.options.sandbox
    await until(lambda: not sandbox._running)
    by_user(f"{HOOK} .git/hooks/pre-push", place)
    assert "pre-push has changed between two commands" in (await inside.bash("true")).text
    assert "has changed" not in (await inside.bash("true")).text
    assert (place.cwd / ".git" / "hooks" / "pre-push").exists()


@pytest.mark.parametrize("back_end", ["Landlock"])
async def test_no_datagram_leaves_by_a_pair_of_sockets(begin: Begin, place: Place) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(str(place.outside / "log"))
        inside = await begin()
        code = f'import socket; a, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b"x", "{place.outside}/log")'
        answer = await inside.bash(f"python3 -c '{code}'; python3 -c 'import socket; socket.socketpair(); print(7)'")
        log.settimeout(0.2)
        with pytest.raises(TimeoutError):
            log.recv(9)
        assert answer.text.splitlines()[-1] == "7"


def test_landlock_cannot_tell_hosts_apart(place: Place) -> None:
    with pytest.raises(ConfigError, match="which host a connection is for"):
        Sandbox(SandboxPolicy(cwd=place.cwd, hosts=("example.org",)), place.folder / "private", "Landlock")


async def test_what_the_system_does_at_a_crash_is_not_for_commands(begin: Begin) -> None:
    answer = await (await begin()).bash(": >> /proc/sys/kernel/core_pattern && echo ESCAPED")
    assert answer.is_error and "ESCAPED" not in answer.text


async def test_a_directory_of_path_that_is_closed_is_no_obstacle(
    begin: Begin, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = place.folder / "closed"
    (closed / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{closed}/bin")
    closed.chmod(0)
    try:
        assert (await (await begin()).bash("echo ran")).text == "ran"
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize("name", ["a..example.org", "a" * 70 + ".example.org", "a\0.example.org"])
async def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    assert await HostProxy(("*.example.org",))._address(name, 443) in (None, name)


def test_the_search_for_repositories_ends(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"d{number}" / "node_modules" / "x" / ".git").mkdir(parents=True)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "vendor" / ".git").mkdir(parents=True)
    policy = SandboxPolicy(cwd=tmp_path).prepared()
    assert policy.repositories == (tmp_path / "vendor" / ".git",)
