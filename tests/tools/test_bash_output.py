"""What the model reads of a command's output, and what goes to the file."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.tools import AgentToolResult
from agentcli.tools.bash import command_output, shell_command
from tests.tools.conftest import INPUTS, Tools

MAX_BYTES = 50 * 1024


async def test_stdout_and_stderr_come_in_the_order_in_which_they_were_printed(tools: Tools) -> None:
    answer = await tools.bash("echo one; echo two >&2; echo three")
    assert answer.text == "one\ntwo\nthree"
    assert not answer.is_error
    assert answer.details.exit_code == 0


async def test_a_command_without_output_has_a_text_all_the_same(tools: Tools) -> None:
    answer = await tools.bash("true")
    assert answer.text == "(no output)"
    assert not answer.is_error


@pytest.mark.parametrize("blanks", ["\\n\\n\\n", "   ", "\\t\\n"])
async def test_output_of_blanks_only_is_no_empty_result(tools: Tools, blanks: str) -> None:
    assert (await tools.bash(f"printf '{blanks}'")).text.strip()


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("false", 1, r"\b1\b"),
        ("grep -q zzz /dev/null", 1, r"\b1\b"),
        ("kill -9 $$", 137, r"signal 9 \(SIGKILL\)"),
        ("kill -TERM $$", 143, r"SIGTERM"),
        ("bash -c 'kill -9 $$'; exit $?", 137, r"137 \(killed by SIGKILL\)"),
        ("exit 300", 44, r"\b44\b"),
        ("no_such_program_here", 127, r"127 \(command not found\)"),
        ("printf x > file; ./file", 126, r"126 \(cannot be executed\)"),
    ],
)
async def test_an_exit_that_is_no_success_is_an_error_and_stated_in_words(
    tools: Tools, command: str, code: int, said: str
) -> None:
    answer = await tools.bash(command)
    assert answer.is_error
    assert answer.details.exit_code == code
    assert re.search(said, answer.text.splitlines()[-1])


async def test_output_before_a_failure_is_kept_and_the_code_stands_on_the_last_line(tools: Tools) -> None:
    answer = await tools.bash("echo before; exit 3")
    assert answer.text == "before\n\nCommand exited with code 3"


async def test_characters_that_are_cut_between_two_reads_come_out_whole(tools: Tools) -> None:
    seen: list[str] = []

    def show(result: AgentToolResult) -> None:
        seen.append(result.content[0].text)

    command = f"{sys.executable} {INPUTS / 'split_utf8.py'}"
    answer = await tools("bash", {"command": command}, on_update=show)
    assert answer.text == "A€B💩"
    assert seen and not any("\ufffd" in text for text in seen[-1:])


async def test_a_half_character_at_the_end_of_a_live_view_is_not_shown_as_damage(tools: Tools) -> None:
    seen: list[str] = []
    command = f"{sys.executable} {INPUTS / 'split_utf8.py'}"
    await tools("bash", {"command": command}, on_update=lambda result: seen.append(result.content[0].text))
    assert not any("\ufffd" in text for text in seen)


async def test_many_wide_characters_on_one_line_are_cut_between_characters(tools: Tools) -> None:
    answer = await tools.bash(f"{sys.executable} -c \"print('你' * 50000)\"")
    assert "\ufffd" not in answer.text
    assert set(answer.text.split("\n")[0]) == {"你"}
    assert Path(answer.details.full_output_path).read_text(encoding="utf-8") == "你" * 50000 + "\n"
    assert "Showing the last 50.0KB of line 1 (it is 146.5KB)" in answer.text


async def test_bytes_that_are_no_text_leave_the_readable_parts_and_a_note(tools: Tools) -> None:
    command = "printf 'ok\\377\\376 caf\\351\\n'; printf 'nul\\0here\\001\\002\\033[31mred\\033[0m\\n'; head -c 2048 /dev/urandom"
    answer = await tools.bash(command)
    assert not answer.is_error
    for part in ("ok", "caf", "nulhere", "red"):
        assert part in answer.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", answer.text)
    assert "[31m" not in answer.text
    assert "not UTF-8" in answer.text
    assert json.loads(json.dumps(answer.text).encode("utf-8")) == answer.text


async def test_of_a_progress_line_only_the_last_state_is_left(tools: Tools) -> None:
    command = "for i in $(seq 1 3000); do printf '\\rprogress %d/3000' $i; done; printf '\\r\\nresult: 42\\n'"
    answer = await tools.bash(command)
    assert answer.text == "progress 3000/3000\nresult: 42"


async def test_windows_line_ends_are_not_taken_for_overwriting(tools: Tools) -> None:
    assert (await tools.bash("printf 'keep\\r\\nthis\\r\\n'")).text == "keep\nthis"


async def test_the_end_of_a_long_output_is_shown_and_all_of_it_is_in_a_private_file(tools: Tools) -> None:
    answer = await tools.bash("seq 1 5000")
    lines = answer.text.split("\n")
    assert lines[0] == "3001"
    assert lines[1999] == "5000"
    path = Path(answer.details.full_output_path)
    assert f"[Showing lines 3001-5000 of 5000. Full output: {path}]" in answer.text
    assert path.read_text() == "".join(f"{number}\n" for number in range(1, 5001))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_exactly_as_many_lines_as_fit_are_shown_without_a_notice(tools: Tools) -> None:
    answer = await tools.bash("seq 1 2000")
    assert answer.text.endswith("\n2000")
    assert answer.details.truncation is None
    assert answer.details.full_output_path is None


async def test_an_output_that_is_long_in_bytes_keeps_whole_lines_within_the_limit(tools: Tools) -> None:
    answer = await tools.bash("for i in $(seq 1 900); do printf '%0100d\\n' $i; done")
    shown = answer.text.split("\n\n[")[0]
    assert len(shown.encode()) <= MAX_BYTES
    assert all(len(line) == 100 for line in shown.split("\n"))
    truncation = answer.details.truncation
    assert (truncation.truncated_by, truncation.total_lines) == ("bytes", 900)
    assert f"Showing lines {truncation.first_line}-900 of 900" in answer.text


async def test_an_output_that_ends_in_a_huge_line_shows_the_end_of_that_line(tools: Tools) -> None:
    answer = await tools.bash("echo first; head -c 300000 /dev/zero | tr '\\0' x; echo END")
    shown = answer.text.split("\n\n[")[0]
    assert shown.endswith("xEND")
    assert len(shown) == MAX_BYTES
    assert "of line 2 (it is 293.0KB)" in answer.text


async def test_the_raw_bytes_go_to_the_file_while_the_model_reads_clean_text(tools: Tools) -> None:
    answer = await tools.bash("for i in $(seq 1 3000); do printf '\\033[32mline %d\\033[0m\\r\\n' $i; done")
    assert "\x1b" not in answer.text
    assert answer.text.split("\n")[0] == "line 1001"
    raw = Path(answer.details.full_output_path).read_bytes()
    assert raw.startswith(b"\x1b[32mline 1\x1b[0m\r\n")
    assert raw.count(b"\r\n") == 3000


async def test_the_file_keeps_no_more_than_its_limit_and_the_notice_says_so(tools: Tools) -> None:
    tools.options.spill_limit = 100_000
    answer = await tools.bash("head -c 400000 /dev/zero | tr '\\0' x | fold -w 99")
    assert Path(answer.details.full_output_path).stat().st_size == 100_000
    assert "only the beginning of the output is in the file" in answer.text


async def test_a_file_that_cannot_be_made_is_said_and_the_command_goes_on(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "spill").write_text("in the way")
    answer = await tools.bash("seq 1 5000; echo END")
    assert not answer.is_error
    assert "END" in answer.text
    assert "the full output could not be kept" in answer.text


async def test_what_prints_on_in_the_background_is_kept_and_read_with_measure(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_command, "_BACKGROUND_FILE_BYTES", 200_000)
    monkeypatch.setattr(command_output, "BURST_BYTES", 300_000)
    answer = await tools.bash("until [ -e go ]; do sleep 0.01; done; yes & echo hi & touch ../up", background=True)
    job = answer.details.job
    await tools.bash("touch go; until [ -e ../up ]; do sleep 0.01; done")
    while "slowed down" not in answer.text:
        answer = await tools("bash", {"job": job, "timeout": 0.05})
    assert answer.details.running
    assert Path(answer.details.full_output_path).stat().st_size == 200_000
    assert "only the beginning of the output is in the file" in answer.text
    read = tools.toolset.commands.jobs[job].output.total_bytes
    assert read < 4 << 20, "a pipe's content at most comes on top of what may come at once"
    assert (await tools("bash", {"job": job, "kill": True})).details.running is False


async def test_what_a_shell_leaves_behind_is_told_to_be_slowed_down(tools: Tools) -> None:
    answer = await tools.bash("yes & echo hi")
    assert answer.details.background[0].command == "yes"
    assert "slowed down to 1.0MB a second" in answer.text
    assert Path(answer.details.full_output_path).stat().st_size < tools.options.spill_limit


async def test_output_is_shown_while_the_command_runs(tools: Tools) -> None:
    seen: list[AgentToolResult] = []
    command = "for i in 1 2 3 4; do echo step $i; sleep 0.15; done"
    answer = await tools("bash", {"command": command}, on_update=seen.append)
    texts: list[Any] = [result.content[0].text for result in seen]
    assert "step 1" in texts[0] and "step 4" not in texts[0]
    assert len(texts) >= 3
    assert answer.text == "step 1\nstep 2\nstep 3\nstep 4"


async def test_nothing_is_shown_after_the_result(tools: Tools) -> None:
    seen: list[AgentToolResult] = []
    await tools("bash", {"command": "(while :; do echo x; sleep 0.02; done) & sleep 0.2"}, on_update=seen.append)
    count = len(seen)
    await tools.bash("sleep 0.3")
    assert len(seen) == count


async def test_output_that_children_write_after_the_shell_has_exited_is_still_collected(tools: Tools) -> None:
    answer = await tools.bash("(sleep 0.05; echo late) & echo early")
    assert answer.text.split("\n\n")[0] == "early\nlate"


async def test_an_output_that_grows_by_being_cleaned_is_kept_in_full_too(tools: Tools) -> None:
    answer = await tools.bash("head -c 40000 /dev/zero | tr '\\0' '\\377'")
    assert len(answer.text.split("\n\n[")[0].encode()) <= MAX_BYTES
    assert Path(answer.details.full_output_path).read_bytes() == b"\xff" * 40_000
