"""Searches that cannot end well: no program, crashes, hostile files, limits of time and memory, aborts."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from agentcli.agent.abort import AbortController
from agentcli.tools.search import ripgrep as program
from agentcli.tools.search import search_process
from agentcli.tools.search.grep_events import MAX_EVENT, GrepEvents
from agentcli.tools.search.search_process import Ending, SearchEnd
from tests.tools.conftest import Answer, Tools
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def no_settings(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(cwd.parent))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


async def both(tools: Tools) -> list[Answer]:
    return [await tools("grep", {"pattern": "needle"}), await tools("find", {"pattern": "*"})]


def fake_rg(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program in the place of rg that says that it is the right one."""
    path = folder / "rg"
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "ripgrep 15.9.0" && exit\n{script}\n')
    path.chmod(0o755)
    monkeypatch.setattr(program, "_candidates", lambda: iter([path]))
    program.ripgrep.cache_clear()


@pytest.fixture
def forget_program() -> object:
    yield None
    program.ripgrep.cache_clear()


# Names


async def test_names_that_are_not_utf8_are_searched_and_found_beside_others(tools: Tools, cwd: Path) -> None:
    for name in (b"a.txt", b"caf\xe9.txt", b"d\xff/caf\xe9", b"z.txt"):
        path = Path(os.fsdecode(os.fsencode(cwd) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.write_text("needle\n")
    expected = ["a.txt", "caf\ufffd.txt", "d\ufffd/caf\ufffd", "z.txt"]
    grep, find = await both(tools)
    assert grep.text.split("\n") == [f"{name}:1: needle" for name in expected]
    assert find.text.split("\n") == [*expected[:2], "d\ufffd/", *expected[2:]]
    for path in ("caf\ufffd.txt", "d\ufffd"):
        assert (await tools("grep", {"pattern": "needle", "path": path})).text.startswith(path)


# The program


async def test_a_missing_or_old_program_is_told_with_what_to_do(
    tools: Tools, cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forget_program: None
) -> None:
    old = tmp_path / "rg"
    old.write_text('#!/bin/sh\necho "ripgrep 13.0.0"\n')
    old.chmod(0o755)
    monkeypatch.setattr(program, "_candidates", lambda: iter([tmp_path / "nothing", old]))
    program.ripgrep.cache_clear()
    for answer in await both(tools):
        assert answer.is_error
        assert "ripgrep 15, which comes with agentcli and is needed to search, is not installed" in answer.text
        assert f"{old} is 13.0.0" in answer.text


def test_the_program_of_our_environment_comes_first_and_none_of_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{tmp_path}")
    candidates = list(program._candidates())
    assert candidates[0].parent == Path(os.sys.prefix) / "bin"
    assert Path(program.ripgrep()).is_absolute()
    assert all(path.is_absolute() for path in candidates) and candidates[-1] == tmp_path / "rg"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo 'thread panicked' >&2; kill -SEGV $$", "was ended by SIGSEGV: thread panicked"),
        ("exit 1", None),
        ("exit 3", "failed with exit code 3: it gave no reason"),
        ("echo 'rg: everything is wrong' >&2; exit 101", "exit code 101: rg: everything is wrong"),
    ],
)
async def test_a_crash_is_never_an_empty_result(
    tools: Tools,
    cwd: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    forget_program: None,
    script: str,
    told: str | None,
) -> None:
    fake_rg(tmp_path, monkeypatch, script)
    grep, find = await both(tools)
    assert grep.is_error and (told or "failed with exit code 1") in grep.text
    assert find.text == "No files found" if told is None else find.is_error and told in find.text


def test_errors_of_files_stand_beside_the_results_in_one_bounded_note() -> None:
    errors = "\n".join(f"rg: ./{number}: Permission denied (os error 13)" for number in range(9))
    end = SearchEnd(Ending.DONE, 2, errors)
    end.check(is_whole=True)
    [note] = end.notes("sub/")
    assert note.startswith("Errors: sub/0: Permission denied; sub/1: Permission denied;")
    assert note.endswith("and at least 4 more.")


async def test_results_and_what_went_wrong_are_shown_together(tools: Tools, cwd: Path) -> None:
    subprocess.run(["git", "init", "-q", str(cwd)], check=True)
    (cwd / ".gitignore").write_text("[z-a\n")
    (cwd / "f").write_text("needle\n")
    grep, find = await both(tools)
    note = "[Errors: .gitignore: line 1: error parsing glob '[z-a': invalid range; 'z' > 'a'.]"
    assert grep.text == f"f:1: needle\n\n{note}"
    assert find.text == f".gitignore\nf\n\n{note}"


# Hostile files


@pytest.mark.parametrize("place", [".gitignore", ".ignore", ".git/info/exclude", "../.ignore"])
async def test_an_ignore_file_that_is_a_fifo_is_named_at_once(tools: Tools, cwd: Path, place: str) -> None:
    (cwd / ".git" / "info").mkdir(parents=True)
    (cwd / "f").write_text("needle\n")
    os.mkfifo(cwd / place)
    for answer in await asyncio.wait_for(both(tools), 10):
        assert answer.is_error
        assert f"{(cwd / place).parent.resolve() / Path(place).name} is a FIFO" in answer.text.replace("work/../", "")


async def test_an_ignore_file_below_that_never_ends_or_never_opens_is_named(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_process, "_SILENT_S", 0.1)
    (cwd / ".git").mkdir()
    for name in ("a/b", "a/c"):
        (cwd / name).mkdir(parents=True)
    (cwd / "a" / "b" / ".gitignore").symlink_to("/dev/zero")
    assert all("a/b/.gitignore is a character device" in answer.text for answer in await both(tools))
    (cwd / "a" / "b" / ".gitignore").unlink()
    os.mkfifo(cwd / "a" / "c" / ".ignore")
    assert all("a/c/.ignore is a FIFO" in answer.text for answer in await asyncio.wait_for(both(tools), 10))


async def test_an_ignore_file_that_is_dev_null_is_an_empty_one(tools: Tools, cwd: Path) -> None:
    (cwd / ".ignore").symlink_to("/dev/null")
    (cwd / "f").write_text("needle\n")
    assert (await tools("grep", {"pattern": "needle"})).text == "f:1: needle"


# Limits


async def test_what_was_found_when_time_ran_out_is_shown_as_incomplete(
    tools: Tools, cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forget_program: None
) -> None:
    tools.options.search_timeout_s = 0.4
    event = '{"type":"match","data":{"path":{"text":"./f"},"lines":{"text":"needle"},"line_number":1,"submatches":[]}}'
    listing = f"case $1 in --files) printf 'f\\0';; *) echo '{event}';; esac"
    fake_rg(tmp_path, monkeypatch, f"{listing}; exec sleep 30")
    for answer, shown in zip(await both(tools), ("f:1: needle", "f"), strict=True):
        assert answer.text.startswith(f"{shown}\n\n[INCOMPLETE: the search was ended at its limit of 0.4 s.")
    fake_rg(tmp_path, monkeypatch, "exec sleep 30")
    for answer in await both(tools):
        assert answer.is_error and answer.text.startswith("INCOMPLETE")


async def test_a_line_with_too_many_matches_for_memory_leaves_out_large_files_and_says_so(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_process, "MAX_MEMORY", 200 << 20)
    (cwd / "large").write_bytes(b"a" * 6_000_000)
    (cwd / "small").write_text("a\n")
    answer = await tools("grep", {"pattern": "a"})
    assert answer.text.startswith("small:1: a\n\n[INCOMPLETE: files over 1 MiB were left out")
    assert (await tools("grep", {"pattern": "a", "path": "large"})).is_error


async def test_a_long_line_is_found_and_shown_in_part(tools: Tools, cwd: Path) -> None:
    (cwd / "f").write_bytes(b"first\n" + b"x" * (3 * MAX_EVENT) + b" needle\n")
    answer = await tools("grep", {"pattern": "needle"})
    assert answer.text.startswith("f:2: ") and "Long lines are cut" in answer.text
    assert len(answer.text) < 800


def test_events_longer_than_what_is_kept_are_read_in_any_chunks() -> None:
    short = b'{"type":"match","data":{"path":{"text":"s"},"lines":{"text":"s\\n"},"line_number":7,"submatches":[]}}\n'
    text = '\\",\\"line_number\\":5,\\u00e9é' * (MAX_EVENT // 20)
    long = (
        '{"type":"context","data":{"path":{"text":"a}\\"b"},"lines":{"text":"%s"},"line_number":%d,"submatches":%s}}\n'
    )
    many = '[{"match":{"text":"s"},"start":3,"end":4}%s]' % (',{"start":5}' * MAX_EVENT)
    output = long % (text, 12, '[{"match":{"text":"\\"start\\":4"},"start":900,"end":901}]') + long % (
        "short",
        13,
        many,
    )
    data = short + output.encode() + short
    for size in (65_536, 65_537, 1 << 22):
        events = GrepEvents()
        found = [line for at in range(0, len(data), size) for line in events.take(data[at : at + size])]
        assert [(line.line_number, is_match) for is_match, line in found] == [
            (7, True),
            (12, False),
            (13, False),
            (7, True),
        ]
        assert found[1][1].path.text == 'a}"b'
        assert (found[1][1].lines.text or "").startswith('","line_number":5,éé","line')
        assert (found[1][1].submatches[0].start, found[2][1].submatches[0].start) == (900, 3)
        assert found[2][1].lines.text == "short"


async def test_arguments_that_are_too_long_are_refused_in_one_line(tools: Tools, cwd: Path) -> None:
    long = "n" * 200_000
    (cwd / "f").write_text("needle\n")
    for name, arguments in (
        ("grep", {"pattern": long}),
        ("grep", {"pattern": "你" * 5_000, "literal": True}),
        ("grep", {"pattern": "a", "glob": long}),
        ("grep", {"pattern": "a", "glob": "a\0"}),
        ("find", {"pattern": long}),
        ("find", {"pattern": "a\0"}),
    ):
        answer = await tools(name, arguments)
        assert answer.is_error and ("must not" in answer.text or "longer than 10,000 bytes" in answer.text)
        assert len(answer.text) < 200 and "\n" not in answer.text
    assert (await tools("grep", {"pattern": f"{'n' * 9_000}|needle"})).text == "f:1: needle"


async def test_more_matches_than_are_collected_give_the_first_in_order(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentcli.tools.search.grep._MAX_MATCHES", 20)
    monkeypatch.setattr("agentcli.tools.search.find._MOST_KEPT", 20)
    for number in range(99):
        (cwd / f"f{number:02}").write_text("needle\nneedle\n")
    grep = await tools("grep", {"pattern": "needle", "limit": 5})
    assert [line[:5] for line in grep.text.split("\n")[:5]] == ["f00:1", "f00:2", "f01:1", "f01:2", "f02:1"]
    assert "5 matches shown, there are more" in grep.text
    assert (await tools("find", {"pattern": "f*", "limit": 3})).text.startswith("f00\nf01\nf02\n\n[3 results shown")


@pytest.mark.parametrize("tool", ["grep", "find"])
async def test_an_abort_ends_the_search_and_its_process(tools: Tools, cwd: Path, tool: str) -> None:
    (cwd / "below").mkdir()
    os.mkfifo(cwd / "below" / ".ignore")
    controller = AbortController()
    call = asyncio.create_task(tools(tool, {"pattern": "a"}, signal=controller.signal))
    await asyncio.to_thread(wait_until, lambda: _working_in(cwd))
    controller.abort()
    answer = await asyncio.wait_for(call, 5)
    assert answer.is_error and "aborted" in answer.text
    await asyncio.to_thread(wait_until, lambda: not _working_in(cwd))


def _working_in(folder: Path) -> list[str]:
    """Pids of processes whose working folder it is."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("cwd").readlink() == folder and process.name != str(os.getpid()):
                found.append(process.name)
        except OSError:
            continue
    return found
