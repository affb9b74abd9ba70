"""Whatever bash runs has been judged: commands of every shape are run by a real bash, with commands that say their name."""

import contextlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentcli.config.settings import PermissionMode, PermissionSettings
from agentcli.runtime.command_parts import RUNNERS, parse_command
from agentcli.runtime.permissions import Permissions

SIMPLE = [
    "aa", "bb x", "cc -x 'y z'", "'aa' x", '"bb"', "a\\a", "c''c", 'b"b" x', "$X", "$(echo aa)", "A=1 bb", "aa\\\n x", "$'aa'",
    "aa # bb", "aa <<'E'\n$(bb)\nE\n", "a{a,b}", "{aa,x}", "aa;", "eval bb", "${Y:-cc}", "\\aa", "aa {a..c}", "bb *", "aa=1", "[ -n x ]",
]  # fmt: skip

SHAPES = [
    "{0} && {1}", "{0} || {1}", "{0}; {1}", "{0} | {1}", "{0} |& {1}", "{0}\n{1}", "echo $({0})", "echo `{0}`", 'echo "$({0})"',
    "( {0} )", "{{ {0}; }}", "if {0}; then {1}; else {1}; fi", "for i in 1; do {0}; done", "while {0}; do {1}; break; done",
    "until {0}; do {1}; break; done", "case x in x) {0};; esac", "case $({0}) in *) {1};& y) aa;; esac", "f() {{ {0}; }}; f",
    "function g {{ {0}; }}; g", "cat <<E\n$({0})\nE\n", 'cat <<< "$({0})"', "echo ${{x:-$({0})}}", "x=$({0})", "local x=$({0})",
    "export x=$({0})", "a=(x $({0}))", "! {0}", "{0} > /dev/null", "{0} 2>&1", "eval '{0}'", "bash -c '{0}'", "time {0}",
    "trap '{0}' EXIT", "{0} & wait", "cat <({0})", "{0} > >({1})", "[[ -n $({0}) ]] && {1}", "echo $(( $({0} | wc -l) + 1 ))",
    "(( $({0}; echo 1) )) && {1}", "echo ${{x/$({0})/y}}", "coproc {0}; wait", "command {0}", "exec {0}", "nohup {0}", "timeout 5 {0}",
    "echo \"a `{0}` b\"", "select x in a; do {0}; done < /dev/null", "echo 'no $({0})'", "echo \\$({0})", "# {0}\n{1}", "env {0}",
    "set -- {0}; \"$@\"", "printf -v x $({0})", "[ -z \"$({0})\" ] || {1}", "{0} <<< x", "{{ {0}; }} 2>&1 | {1}", "if ! {0}; then {1}; fi",
]  # fmt: skip


def commands() -> st.SearchStrategy[str]:
    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.builds(lambda shape, one, two: shape.format(one, two), st.sampled_from(SHAPES), inner, inner)

    return st.recursive(st.sampled_from(SIMPLE), grown, max_leaves=5)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A command with characters put in that mean something, wherever they fall."""
    text = draw(commands())
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(list("\n\\'\"$(){};&|# \t`=!<~"))) + text[place:]
    return text


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stubs")
    for name in ("aa", "bb", "cc"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} >> "$STUB_LOG"\n')
        (folder / name).chmod(0o755)
    return folder


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(command=st.one_of(commands(), damaged()))
def test_no_command_runs_that_is_not_among_the_parts(stubs: Path, command: str):
    parsed = parse_command(command)
    runs_anything = any(None in part.words and part.words[0] in RUNNERS for part in parsed.parts)
    if parsed.unclear or runs_anything:
        return
    judged = {word.rpartition("/")[2] for part in parsed.parts for word in part.words if word is not None}
    log = stubs / "log"
    log.write_text("")
    environment = {"PATH": f"{stubs}:/usr/bin:/bin", "STUB_LOG": str(log), "X": "aa"}
    run = ["bash", "-c", command]
    # An endless loop has said enough by then.
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            run, env=environment, cwd=stubs, stdin=subprocess.DEVNULL, capture_output=True, timeout=3, check=False
        )
    assert set(log.read_text().split()) <= judged


@given(
    command=st.one_of(
        commands(), st.text(max_size=60), st.text(alphabet="ab '\"$(){}[]|&;<>\\`\n#*?=!~-/", max_size=40)
    )
)
def test_every_text_gets_a_verdict_and_none_that_holds_a_command_is_simply_allowed(command: str):
    judge = Permissions(PermissionMode.ASK, PermissionSettings(), Path("/"))
    verdict = judge.judge("bash", {"command": command}).verdict
    assert verdict in ("allow", "ask")
    parsed = parse_command(command)
    looks = set("echo pwd true false exit ls cat head tail wc stat du basename dirname cd [ test".split())
    if any(part.words[0] not in looks for part in parsed.parts) or parsed.unclear:
        assert verdict == "ask"
