"""What a command in the sandbox tries in order to get out. Each attempt prints or leaves `ESCAPED` if it does."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentcli.tools.sandbox.policy import SandboxPolicy
from agentcli.tools.toolset import ToolOptions, create_toolset
from tests.tools.conftest import Tools
from tests.tools.sandbox.conftest import Place, make_sandbox

PYTHON = os.path.realpath(sys.executable)

WRITES = {
    "write outside": "echo ESCAPED > $OUT/new",
    "append outside": "echo ESCAPED >> $OUT/kept",
    "write by a relative path": "echo ESCAPED > ../outside/new",
    "write through a link to a folder": "ln -s $OUT l; echo ESCAPED > l/new",
    "write through a dangling link": "ln -s $OUT/new l; echo ESCAPED > l",
    "write through a link to a file": "ln -s $OUT/kept l; echo ESCAPED > l",
    "write through a hard link": "ln $OUT/kept h && echo ESCAPED > h",
    "rename out": "echo ESCAPED > a; mv a $OUT/new",
    "exchange folders by renames": "mkdir d; echo ESCAPED > d/new; mv $OUT moved; mv d $OUT",
    "take a file away": "mv $OUT/kept taken",
    "remove": "rm -f $OUT/kept",
    "empty": "truncate -s 0 $OUT/kept",
    "remove the folder": "rm -rf $OUT",
    "make a folder": "mkdir $OUT/new",
    "make a FIFO": "mkfifo $OUT/new",
    "make a link": "ln -s /etc $OUT/new",
    "make a socket": "$PY -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"'$OUT'/new\")'",
    "open a file that is there for writing, by its descriptor": "exec 3<> $OUT/kept && echo ESCAPED >&3",
    "write by the root of the first process": "echo ESCAPED > /proc/1/root$OUT/new",
    "write by the root of agentcli": "echo ESCAPED > /proc/$AGENT/root$OUT/new",
    "write by the folder of agentcli": "cd /proc/$AGENT/cwd && echo ESCAPED > $OUT/new",
    "write by its own root": "echo ESCAPED > /proc/self/root$OUT/new",
    "write in namespaces of its own": "unshare -r -m sh -c 'mount -o remount,rw,bind /; echo ESCAPED > $OUT/new'",
    "mount something writable": 'mkdir m; unshare -r -m sh -c "mount --bind $OUT m && echo ESCAPED > m/new"',
    "write in the first mount namespace": 'nsenter -t 1 -m sh -c "echo ESCAPED > $OUT/new"',
    "write in the mount namespace of agentcli": 'nsenter -t $AGENT -m sh -c "echo ESCAPED > $OUT/new"',
    "write to the home": "echo ESCAPED > ~/.bashrc",
    "write to a hook of all repositories": "git config --global core.hooksPath /tmp; test -e ~/.gitconfig && echo ESCAPED",
    "make a device": "mknod dev b 254 0 && head -c 1 dev && echo ESCAPED",
    "chroot": "mkdir -p r/bin && chroot r true; chroot . true 2>/dev/null && echo ESCAPED",
}

READS = {
    "read a hidden file": "cat ~/.ssh/id",
    "read it by the link of a folder": "ln -s ~/.ssh l; cat l/id",
    "read it by a hard link": "ln ~/.ssh/id h && cat h",
    "read it by its own root": "cat /proc/self/root$HOME/.ssh/id",
    "read it by the root of the first process": "cat /proc/1/root$HOME/.ssh/id",
    "read it after a rename": "mv ~/.ssh ~/s; cat ~/s/id",
    "read it without what covers it": "umount ~/.ssh; unshare -r -m sh -c 'umount ~/.ssh; cat ~/.ssh/id'",
    "read the environment of agentcli": "tr '\\0' '\\n' < /proc/$AGENT/environ | sed 's/.*SECRET.*/PRIVATE-KEY/'",
    "read the memory of agentcli": "head -c 1 /proc/$AGENT/mem && echo PRIVATE-KEY",
    "ask the agent of SSH": "echo ${SSH_AUTH_SOCK:+PRIVATE-KEY}",
}

LATER = {
    "a hook": "printf '#!/bin/sh\\necho ESCAPED' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    "another folder of hooks": "git config core.hooksPath evil; mkdir evil; printf '#!/bin/sh\\necho ESCAPED' > evil/pre-commit; chmod +x evil/pre-commit",
    "a monitor of files": "printf '[core]\\nfsmonitor = \"echo ESCAPED >&2; false\"\\n' >> .git/config",
    "a .git that is exchanged": "cp -r .git new; printf '#!/bin/sh\\necho ESCAPED' > new/hooks/pre-commit; chmod +x new/hooks/pre-commit; mv .git old; mv new .git",
    "hooks that are a link": "mkdir evil; printf '#!/bin/sh\\necho ESCAPED' > evil/pre-commit; chmod +x evil/pre-commit; rm -rf .git/hooks; ln -s ../evil .git/hooks",
    "hooks where there were none": "rm -rf .git/hooks; mkdir -p .git/hooks; printf '#!/bin/sh\\necho ESCAPED' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    "a common folder elsewhere": "cp -r .git evil; printf '#!/bin/sh\\necho ESCAPED' > evil/hooks/pre-commit; chmod +x evil/hooks/pre-commit; echo ../evil > .git/commondir",
}


@pytest.fixture(autouse=True)
def names(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"OUT": str(place.outside), "PY": PYTHON, "AGENT": str(os.getpid()), "SSH_AUTH_SOCK": "/tmp/agent"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("name", WRITES)
async def test_nothing_outside_is_written(name: str, inside: Tools, place: Place) -> None:
    answer = await inside.bash(WRITES[name])
    assert "ESCAPED" not in answer.text
    assert [path.name for path in place.outside.iterdir()] == ["kept"]
    assert (place.outside / "kept").read_text() == "as it was"
    assert sorted(path.name for path in place.home.iterdir()) == [".ssh"]


@pytest.mark.parametrize("name", READS)
async def test_nothing_hidden_is_read(name: str, inside: Tools) -> None:
    assert "PRIVATE-KEY" not in (await inside.bash(READS[name])).text


@pytest.mark.parametrize("name", LATER)
async def test_nothing_is_left_that_git_runs_later(name: str, inside: Tools, place: Place) -> None:
    own = place.cwd / ".git/hooks/post-checkout"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    await inside.bash(LATER[name])
    done = subprocess.run(
        ["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=place.cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "ESCAPED" not in done.stdout + done.stderr
    assert os.access(own, os.X_OK)


async def test_a_repository_without_hooks_gets_none(inside: Tools, place: Place) -> None:
    shutil.rmtree(place.cwd / ".git" / "hooks")
    await inside.toolset.close()
    await inside.bash(
        "mkdir .git/hooks; printf '#!/bin/sh\\necho ESCAPED' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"
    )
    assert not (place.cwd / ".git" / "hooks").exists()


async def test_a_worktree_keeps_its_repository(place: Place, back_end: str) -> None:
    main, tree = place.folder / "main", place.folder / "tree"
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=main, check=True)
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=main, check=True)
    sandbox = make_sandbox(SandboxPolicy(cwd=tree), place.folder / "private", back_end)
    toolset = create_toolset(options := ToolOptions(cwd=tree, sandbox=sandbox))
    before = {path: path.read_text() for path in (tree / ".git", main / ".git/worktrees/tree/commondir")}
    await Tools(toolset, options).bash(
        "echo gitdir: evil > .git; echo evil > ../main/.git/worktrees/tree/commondir; rm .git"
    )
    await toolset.close()
    assert {path: path.read_text() for path in before} == before


@pytest.mark.parametrize(
    "command",
    [
        "echo 'shell = \"./evil\"' > .agentcli.toml",
        "echo >> .agentcli.toml",
        "rm .agentcli.toml",
        "mv .agentcli.toml x",
        "echo x > y; mv y .agentcli.toml",
        "mkdir .agentcli; echo evil > .agentcli/SYSTEM.md",
    ],
)
async def test_what_agentcli_reads_stays_as_it_is(command: str, inside: Tools, place: Place) -> None:
    await inside.bash(command)
    assert (place.cwd / ".agentcli.toml").read_text() == "bash_timeout = 99\n"
    assert not (place.cwd / ".agentcli").exists()


CONNECT = "$PY -c 'import socket; s = socket.socket(socket.{family}, socket.{kind}); s.settimeout(2); {act}; print(s.recv(99))'"


@pytest.fixture
def served(place: Place) -> Iterator[dict[str, object]]:
    """What listens outside and greets everybody with ESCAPED."""
    sockets = {
        "tcp": socket.create_server(("127.0.0.1", 0)),
        "unix": socket.socket(socket.AF_UNIX),
        "abstract": socket.socket(socket.AF_UNIX),
    }
    path = str(place.outside / "s")
    sockets["unix"].bind(path)
    abstract = f"agentcli-{os.getpid()}"
    sockets["abstract"].bind(f"\0{abstract}")
    for each in sockets.values():
        each.listen()

        def greet(each: socket.socket = each) -> None:
            while True:
                try:
                    one, _ = each.accept()
                except OSError:
                    return
                with one:
                    one.sendall(b"ESCAPED")

        threading.Thread(target=greet, daemon=True).start()
    yield {"port": sockets["tcp"].getsockname()[1], "path": path, "abstract": abstract}
    for each in sockets.values():
        each.shutdown(socket.SHUT_RDWR)
        each.close()
    Path(path).unlink()


NETWORK: dict[str, Callable[[dict[str, object]], str]] = {
    "TCP": lambda s: CONNECT.format(family="AF_INET", kind="SOCK_STREAM", act=f's.connect(("127.0.0.1", {s["port"]}))'),
    "a Unix socket": lambda s: CONNECT.format(family="AF_UNIX", kind="SOCK_STREAM", act=f's.connect("{s["path"]}")'),
    "an abstract socket": lambda s: CONNECT.format(
        family="AF_UNIX", kind="SOCK_STREAM", act=f's.connect("\\0{s["abstract"]}")'
    ),
    "bash": lambda s: f"cat < /dev/tcp/127.0.0.1/{s['port']}",
    "a proxy of the system": lambda s: (
        f'$PY -c \'import urllib.request as u; u.install_opener(u.build_opener(u.ProxyHandler({{"http": "http://127.0.0.1:{s["port"]}"}}))); print(u.urlopen("http://a.b", timeout=2).read())\''
    ),
}


@pytest.mark.parametrize("name", NETWORK)
async def test_nobody_outside_is_reached(name: str, inside: Tools, served: dict[str, object]) -> None:
    assert "ESCAPED" not in (await inside.bash(NETWORK[name](served))).text.replace("'ESCAPED'", "")


async def test_no_datagram_gets_out(inside: Tools) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        send = (
            f'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"ESCAPED", ("127.0.0.1", {port}))'
        )
        await inside.bash(f"$PY -c '{send}'; echo ESCAPED > /dev/udp/127.0.0.1/{port}")
        listener.settimeout(0.3)
        with pytest.raises(TimeoutError):
            listener.recv(99)


@pytest.mark.parametrize(
    "code",
    [
        'import socket; socket.getaddrinfo("example.org", 80)',
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
        "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    ],
)
async def test_no_name_and_no_raw_socket(code: str, inside: Tools) -> None:
    assert (await inside.bash(f"$PY -c '{code}; print(\"ESCAPED\")'")).is_error


@pytest.fixture
def victim() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 {pid}; kill -9 -- -{pid}; kill -9 $AGENTS_PARENT 2>/dev/null",
        "$PY -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, {pid}, 0, 0))'",
        "$PY -c 'import os; os.kill({pid}, 9)'",
        "prlimit --pid {pid} --cpu=1:1",
        "head -c 1 /proc/{pid}/mem && echo && echo 0",
    ],
)
async def test_no_process_outside_is_touched(
    command: str, inside: Tools, victim: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = Path(f"/proc/{victim.pid}/limits").read_text()
    answer = await inside.bash(command.format(pid=victim.pid))
    assert victim.poll() is None and Path(f"/proc/{victim.pid}/limits").read_text() == limits
    assert Path(f"/proc/{victim.pid}/status").read_text().partition("TracerPid:\t")[2].startswith("0\n")
    assert "\n0" not in f"\n{answer.text}"


async def test_no_terminal_is_written_to(inside: Tools) -> None:
    controller, terminal = os.openpty()
    try:
        await inside.bash(f"echo ESCAPED > {os.ttyname(terminal)}; echo ESCAPED > /dev/tty")
        os.set_blocking(controller, False)
        with pytest.raises(BlockingIOError):
            os.read(controller, 99)
    finally:
        os.close(controller)
        os.close(terminal)


async def test_who_cuts_all_ties_ends_with_the_sandbox(inside: Tools, back_end: str, place: Place) -> None:
    if back_end == "Landlock":
        pytest.skip("it has no PID namespace; agentcli doctor says so")
    daemon = (
        "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\nos.chdir('/')\n"
        "[os.close(n) for n in range(3)]\n"
        f"while True:\n open('{place.cwd}/beat', 'w').write(str(time.time()))\n time.sleep(0.05)"
    )
    (place.cwd / "d.py").write_text(daemon)
    await inside.bash("env -i $PY d.py; sleep 0.3")
    assert (place.cwd / "beat").exists()
    await inside.toolset.close()
    before = (place.cwd / "beat").read_text()
    time.sleep(0.3)
    assert (place.cwd / "beat").read_text() == before


async def test_permissions_and_times_outside_stay(inside: Tools, back_end: str, place: Place) -> None:
    if back_end == "Landlock":
        pytest.skip("it does not see these; agentcli doctor says so")
    before = (place.outside / "kept").stat()
    await inside.bash(
        "chmod 777 $OUT/kept; touch -d 2001-01-01 $OUT/kept; chown 1 $OUT/kept; setfattr -n user.a -v b $OUT/kept"
    )
    after = (place.outside / "kept").stat()
    assert (after.st_mode, after.st_mtime, after.st_uid) == (before.st_mode, before.st_mtime, before.st_uid)


async def test_the_space_for_temporary_files_is_limited(inside: Tools, back_end: str) -> None:
    if back_end == "Landlock":
        pytest.skip("it has none of its own; agentcli doctor says so")
    answer = await inside.bash("df -k --output=size /tmp /var/tmp /dev/shm | tail -n +2")
    assert all(int(size) <= 2 << 20 for size in answer.text.split())
