"""Permissions: what is allowed, asked and denied, by each part of a command and where each path really leads."""

from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.errors import ConfigError
from agentcli.agent.tools import ToolKind, ToolTarget
from agentcli.config.settings import PermissionMode, PermissionSettings
from agentcli.runtime.permissions.command_parts import parse_command
from agentcli.runtime.permissions.permissions import Permissions
from tests.runtime.declared_tools import declared_tool, tool_of_kind


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "w" / "proj"
    for name in ("proj/sub", "proj/src/deep", "proj-evil", "outside"):
        (tmp_path / "w" / name).mkdir(parents=True)
    for name in ("proj/a.txt", "proj/.env", "proj-evil/x", "outside/x"):
        (tmp_path / "w" / name).write_text("text\n")
    (project / "link").symlink_to(tmp_path / "w" / "outside")
    (project / "dangling").symlink_to(tmp_path / "w" / "outside" / "new.txt")
    (project / "loop").symlink_to(project / "loop")
    (project / "inner").symlink_to(project / "sub")
    return project


def permissions(folder: Path, mode: str = "ask", **rules: list[str]) -> Permissions:
    return Permissions(PermissionMode(mode), PermissionSettings(**rules), folder)


def verdict(folder: Path, tool: str, argument: str, mode: str = "ask", **rules: list[str]) -> str:
    arguments: dict[str, Any] = {"command": argument} if tool == "bash" else {"path": argument}
    return str(permissions(folder, mode, **rules).judge(declared_tool(tool), arguments).verdict)


# ── modes


@pytest.mark.parametrize(
    ("tool", "argument", "ask", "auto", "read_only"),
    [
        ("read", "a.txt", "allow", "allow", "allow"),
        ("grep", ".", "allow", "allow", "allow"),
        ("ls", "sub", "allow", "allow", "allow"),
        ("read", "/etc/passwd", "ask", "allow", "allow"),
        ("edit", "a.txt", "ask", "allow", "deny"),
        ("write", "new.txt", "ask", "allow", "deny"),
        ("bash", "make", "ask", "allow", "deny"),
        ("bash", "ls -la sub", "allow", "allow", "deny"),
        ("bash", "cat a.txt | grep -in text | tr a-z A-Z | cut -c 1-5", "allow", "allow", "deny"),
        ("bash", "grep -r text .", "ask", "allow", "deny"),
        ("bash", "grep -inR text", "ask", "allow", "deny"),
        ("bash", "grep --recursive text", "ask", "allow", "deny"),
        ("bash", "grep -f a.txt a.txt", "ask", "allow", "deny"),
        ("bash", "grep text /etc/passwd", "ask", "allow", "deny"),
        ("weather", "x", "ask", "allow", "deny"),
    ],
)
def test_a_mode_says_what_holds_where_no_rule_speaks(
    folder: Path, tool: str, argument: str, ask: str, auto: str, read_only: str
):
    modes = {"ask": ask, "auto": auto, "read-only": read_only}
    assert {mode: verdict(folder, tool, argument, mode) for mode in modes} == modes


# ── what a tool declares


@pytest.mark.parametrize(
    ("kind", "argument", "ask", "auto", "read_only"),
    [
        (ToolKind.READ, "a.txt", "allow", "allow", "allow"),
        (ToolKind.READ, "/etc/passwd", "ask", "allow", "allow"),
        (ToolKind.SEARCH, "sub", "allow", "allow", "allow"),
        (ToolKind.SEARCH, "link", "ask", "allow", "allow"),
        (ToolKind.EDIT, "a.txt", "ask", "allow", "deny"),
        (ToolKind.EXECUTE, "ls -la sub", "allow", "allow", "deny"),
        (ToolKind.EXECUTE, "make", "ask", "allow", "deny"),
        (ToolKind.FETCH, "https://a.example", "ask", "allow", "deny"),
        (ToolKind.OTHER, "x", "ask", "allow", "deny"),
    ],
)
def test_a_tool_of_any_name_is_judged_by_its_kind_and_target(
    folder: Path, kind: ToolKind, argument: str, ask: str, auto: str, read_only: str
):
    tool = tool_of_kind("theirs", kind, ToolTarget("where"))
    modes = {"ask": ask, "auto": auto, "read-only": read_only}
    verdicts = {mode: str(permissions(folder, mode).judge(tool, {"where": argument}).verdict) for mode in modes}
    assert verdicts == modes


@pytest.mark.parametrize("kind", list(ToolKind))
def test_a_tool_whose_target_is_not_known_is_asked_about(folder: Path, kind: ToolKind):
    judgement = permissions(folder).judge(tool_of_kind("theirs", kind), {"path": "a.txt", "command": "ls"})
    assert (judgement.verdict, judgement.about, judgement.rules) == ("ask", "theirs", ["theirs"])


@pytest.mark.parametrize(
    ("kind", "argument", "rule"),
    [
        (ToolKind.READ, "a.txt", "read(a.txt)"),
        (ToolKind.SEARCH, "a.txt", "read(a.txt)"),
        (ToolKind.EDIT, "a.txt", "edit(a.txt)"),
        (ToolKind.EDIT, "a.txt", "theirs(a.txt)"),
        (ToolKind.EXECUTE, "make all", "bash(make)"),
        (ToolKind.EXECUTE, "make all", "theirs"),
        (ToolKind.FETCH, "x", "theirs"),
    ],
)
def test_rules_apply_to_a_tool_by_its_kind_and_by_its_name(folder: Path, kind: ToolKind, argument: str, rule: str):
    tool = tool_of_kind("theirs", kind, ToolTarget("where"))
    assert permissions(folder, "auto", deny=[rule]).judge(tool, {"where": argument}).verdict == "deny"


# ── paths


ESCAPES = [
    "../proj-evil/x",
    "{root}/../proj-evil/x",
    "link/x",
    "dangling",
    "sub/../../outside/x",
    "inner/../../outside/x",
    "~root/x",
    "~/x",
    "file://{outside}/x",
    "/etc/passwd",
    "loop/x",
    '"../outside/x"',
]


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("tool", ["read", "write", "edit"])
def test_no_way_out_of_the_folder_is_taken_for_one_inside(folder: Path, name: str, tool: str):
    name = name.format(root=folder, outside=folder.parent / "outside")
    assert verdict(folder, tool, name, allow=["edit(**)", "read(**)"]) == "ask"


@pytest.mark.parametrize(
    "name", ["a.txt", "./a.txt", "sub/../a.txt", "{root}/./a.txt", "inner/new.txt", "new/deep/x", "@a.txt"]
)
@pytest.mark.parametrize("tool", ["read", "write", "edit"])
def test_what_is_inside_is_inside_however_it_is_written(folder: Path, name: str, tool: str):
    assert verdict(folder, tool, name.format(root=folder), allow=["edit(**)"]) == "allow"


def test_a_folder_that_is_reached_by_a_link_is_the_same_folder(folder: Path, tmp_path: Path):
    (tmp_path / "short").symlink_to(folder)
    assert verdict(tmp_path / "short", "edit", str(folder / "a.txt"), allow=["edit(**)"]) == "allow"
    assert verdict(folder, "edit", str(tmp_path / "short" / "a.txt"), allow=["edit(**)"]) == "allow"


def test_a_name_with_nul_or_too_long_is_never_allowed(folder: Path):
    for name in ("a\0b", "x" * 5000):
        assert verdict(folder, "write", name, allow=["edit(sub/**)"]) == "ask"


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("edit", "/anywhere/x", True),
        ("edit(src/**)", "src/a.py", True),
        ("edit(src/**)", "src/deep/a.py", True),
        ("edit(src/**)", "a.txt", False),
        ("edit(src)", "src/deep/a.py", True),
        ("edit(./src/*.py)", "src/a.py", True),
        ("edit(src/*.py)", "src/deep/a.py", False),
        ("edit(*.{txt,md})", "a.txt", True),
        ("edit(../outside/**)", "link/x", True),
        ("edit({root}/sub/**)", "inner/x", True),
        ("write(sub/**)", "sub/x", False),
        ("*(src/**)", "src/x", True),
        ("edit(**)", ".git/hooks/pre-commit", False),
        ("edit(**)", ".GIT/hooks/pre-commit", False),
        ("edit(**)", ".agentcli.toml", False),
        ("edit(**)", ".agentcli/SYSTEM.md", False),
        ("edit(.git/**)", ".git/hooks/pre-commit", True),
    ],
)
def test_a_rule_covers_the_paths_of_its_glob(folder: Path, rule: str, path: str, covered: bool):
    rule = rule.replace("{root}", str(folder))
    assert verdict(folder, "edit", path, allow=[rule]) == ("allow" if covered else "ask")


def test_a_rule_for_edit_speaks_of_write_and_one_for_read_of_all_that_reads(folder: Path):
    assert verdict(folder, "write", "src/x", allow=["edit(src/**)"]) == "allow"
    assert verdict(folder, "edit", "src/x", allow=["write(src/**)"]) == "ask"
    for tool in ("read", "grep", "find", "ls"):
        assert verdict(folder, tool, ".env", "auto", deny=["read(**/.env)"]) == "deny"


@pytest.mark.parametrize("name", [".env", "./.env", "sub/../.env", "src/deep/.env", "{root}/.env", "/elsewhere/.env"])
def test_a_denied_name_is_denied_wherever_it_is(folder: Path, name: str):
    assert verdict(folder, "read", name.format(root=folder), "auto", deny=["read(**/.env)"]) == "deny"


def test_a_denied_file_is_denied_by_its_links_too_and_a_link_by_its_name(folder: Path):
    (folder / "harmless").symlink_to(folder / ".env")
    assert verdict(folder, "read", "harmless", "auto", deny=["read(.env)"]) == "deny"
    assert verdict(folder, "read", "link/x", "auto", deny=["read(link/**)"]) == "deny"


# ── the weight of rules


def test_deny_wins_over_ask_and_ask_over_allow(folder: Path):
    rules = {"allow": ["bash(git)"], "ask": ["bash(git push)"], "deny": ["bash(git push --force)"]}
    assert verdict(folder, "bash", "git status", **rules) == "allow"
    assert verdict(folder, "bash", "git push", **rules) == "ask"
    assert verdict(folder, "bash", "git push --force", **rules) == "deny"
    assert verdict(folder, "bash", "git push origin --force", **rules) == "ask"


def test_a_bare_rule_speaks_of_every_call(folder: Path):
    assert verdict(folder, "bash", "anything | at > all", allow=["bash"]) == "allow"
    assert verdict(folder, "bash", "ls", "auto", deny=["bash"]) == "deny"
    assert verdict(folder, "bash", "ls", "auto", ask=["*"]) == "ask"
    assert verdict(folder, "weather", "", allow=["weather"]) == "allow"


def test_rules_outweigh_the_mode_that_only_looks(folder: Path):
    assert verdict(folder, "read", "a.txt", "read-only", deny=["read"]) == "deny"
    assert verdict(folder, "bash", "ls", "read-only", allow=["bash"]) == "deny"


@pytest.mark.parametrize(
    "rule",
    ["", "bash(", "bash()", "bash(=a 'b)", "bash(:*)", "bash(=)", "bash(rm) x", "(x)", "a b", "edit(a[)", "edit({a)"],
)
def test_what_is_no_rule_is_an_error(folder: Path, rule: str):
    with pytest.raises(ConfigError):
        permissions(folder, allow=[rule]).judge(declared_tool("edit"), {"path": "x"})


# ── commands: every part counts


GIT = {"allow": ["bash(git status)", "bash(npm run *)"]}


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git status -s",
        "git 'status'",
        "git status && git status",
        "git status | cat",
        "git status; pwd\necho done",
        "if git status; then echo yes; fi",
        "for f in a b; do git status $f; done",
        "(git status) 2>/dev/null",
        "git status 2>&1 | head -n 5 > /dev/null",
        "npm run build -- --watch",
        "time git status",
        "timeout 5 git status",
        "bash -c 'git status'",
        "echo $((1 + 2))",
        "cat a.txt < a.txt",
        "x=5; echo $x",
        "git status # && rm -rf /",
        "[ -f a.txt ] && echo yes",
    ],
)
def test_a_command_is_allowed_if_all_of_it_is(folder: Path, command: str):
    assert verdict(folder, "bash", command, **GIT) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git status && make",
        "git status; make",
        "git status | sh",
        "git status & make",
        "git status\nmake",
        "git status || make",
        "echo $(make)",
        "echo `make`",
        'echo "$(make)"',
        "echo <(make)",
        "cat <<EOF\n$(make)\nEOF",
        "echo ${x:-$(make)}",
        "x=$(make)",
        "git status > a.txt",
        "git status >> a.txt",
        "git status &> a.txt",
        "git status >| a.txt",
        "echo x > ../outside/x",
        "cat < ../outside/x",
        "git status > $HOME/x",
        "FOO=1 git status",
        "PATH=/tmp; git status",
        "export PATH=/tmp; git status",
        "for PATH in /tmp; do git status; done",
        "git statusx",
        "git",
        "/tmp/git status",
        "./git status",
        "$GIT status",
        "$(echo git) status",
        "g*t status",
        "{git,status}",
        "$'git' status",
        "eval git status $x",
        "eval 'make'",
        'bash -c "git status $x"',
        "bash -lc make",
        "bash script.sh",
        "echo hi | bash",
        "git() { make; }; git status",
        "trap make EXIT",
        "sudo git status",
        "xargs git status",
        "cat ../outside/x",
        "cat link/x",
        "cat ~/x",
        "cat /etc/passwd",
        "cat $x",
        "cat *",
        "cat ${x}",
        "head --lines=5 /etc/passwd",
        "wc --files0-from=/etc/passwd",
        "cd .. && cat outside/x",
        "cd sub && cat ../../outside/x",
        "cd / && ls",
        "ls && cd ..",
        "git status (",
        "git status 'unclosed",
        "((a[$(make)]))",
        "echo $((x))",
        "[[ $x -eq 0 ]]",
        "[ -v 'a[$(make)]' ]",
        "echo ${x@P}",
        "echo ${!x}",
        "git\u00a0status",
        "git status\n\\make",
        "a\\\nb",
        "! if git status; then $x; fi",
        "A=1 bash -c make",
        "env bash -c make",
        "coproc $x",
        'trap "$x" EXIT',
        "bash -c 'eval '\\make''",
        "cat <<$E\n$(make)\nE",
        "ec``ho a",
        'echo "a `echo "b `make` c"` d"',
        "echo ${x:-$(( echo <<'E'\n$(make)\nE\n ))}",
        "git status\r\nmake",
        "# comment\rmake",
        "make\x0bgit status",
        "\0",
        "source a.txt",
        ". a.txt",
        "alias git=make",
        "coproc make",
        "exec make",
        "command make",
        "while make; do git status; done",
        "case x in x) make;; esac",
        "git status <<< $(make)",
        "env git status",
        "find . -name x",
        "tee a.txt",
    ],
)
def test_a_command_is_asked_if_any_of_it_is_not_allowed(folder: Path, command: str):
    assert verdict(folder, "bash", command, **GIT) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "ls && rm -rf x",
        "/bin/rm x",
        "\\rm x",
        "r''m x",
        "'rm' x",
        "echo $(rm x)",
        "sudo rm x",
        "sudo -u root rm x",
        "env -i A=1 rm x",
        "A=1 rm x",
        "xargs -n 1 rm",
        "find . -name x -exec rm {} +",
        "nohup rm x",
        "timeout -s KILL 5 rm x",
        "nice -n 5 rm x",
        "bash -c 'rm x'",
        "bash -lc 'cd x; rm x'",
        'eval "rm x"',
        "eval rm x",
        "command rm x",
        "if true; then rm x; fi",
        "f() { rm x; }",
        "trap 'rm x' EXIT",
        "cat <<EOF\n$(rm x)\nEOF",
        "git push",
        "git -C dir push",
        "git -c a=b --no-pager push origin",
        "GIT_DIR=x git push",
    ],
)
def test_a_denied_command_is_found_in_every_part(folder: Path, command: str):
    assert verdict(folder, "bash", command, "auto", deny=["bash(rm)", "bash(git push)"]) == "deny"


@pytest.mark.parametrize(
    "command",
    ["rmdir x", "echo rm", "git status push", "grep rm x", "git log --oneline", "ls rm", "echo 'rm x'", "cat > rm"],
)
def test_what_only_mentions_a_denied_command_is_not_denied(folder: Path, command: str):
    assert verdict(folder, "bash", command, "auto", deny=["bash(rm)", "bash(git push)"]) == "allow"


@pytest.mark.parametrize("command", ["$X y", "ls (", "echo hi | sh", "git $sub", 'bash -c "$x"', "eval $x"])
def test_what_may_be_a_denied_command_is_asked(folder: Path, command: str):
    assert verdict(folder, "bash", command, "auto", deny=["bash(rm)", "bash(git push)"]) == "ask"


@pytest.mark.parametrize(
    "command",
    ["cat .env", "cat < .env", "cp .env x", "echo x > .env", "base64 ./.env", "cat --file=.env", "cat sub/../.env"],
)
def test_a_denied_path_is_denied_in_commands_that_name_it(folder: Path, command: str):
    assert verdict(folder, "bash", command, "auto", deny=["read(.env)", "edit(.env)"]) == "deny"


def test_a_word_of_a_rule_may_hold_a_star(folder: Path):
    assert verdict(folder, "bash", "git push origin", allow=["bash(git p*)"]) == "allow"
    assert verdict(folder, "bash", "git stash pop", allow=["bash(git * pop)"]) == "allow"
    assert verdict(folder, "bash", "git stash", allow=["bash(git * pop)"]) == "ask"
    assert verdict(folder, "bash", "git status -s", allow=["bash(git status:*)"]) == "allow"


def test_a_redirection_needs_the_right_to_write(folder: Path):
    rules = {"allow": ["bash(make)", "edit(sub/**)"]}
    assert verdict(folder, "bash", "make > sub/log", **rules) == "allow"
    assert verdict(folder, "bash", "make > log", **rules) == "ask"
    assert verdict(folder, "bash", "cd sub && make > log", **rules) == "ask"


def test_what_looks_after_a_job_needs_no_right(folder: Path):
    assert (
        permissions(folder).judge(declared_tool("bash"), {"command": "", "job": "3", "kill": True}).verdict == "allow"
    )


# ── what was once read in another way than bash reads it


UNASKED = [
    "echo ${{HOME%%$({0})}}", "echo ${{HOME#$({0})}}", "echo ${{HOME^^$({0})}}", "echo ${{HOME,,$({0})}}", "echo ${{HOME//$({0})}}",
    "cat <<E\n`{0}`\nE", "echo \"${{x:-'$({0})'}}\"", "echo \\ #; {0}", "echo <<< $\n{0}", "a='x[$({0})]'; echo ${{@:a}}",
    "a='x[$({0})]'; echo ${{*:a}}", "a='x[$({0})]'; echo ${{?:a}}", "a='x[$({0})]'; echo ${{-:a}}", "a='x[$({0})]'; echo ${{$:a}}",
    "x='b[$({0})]'; a=([x]=1)", "[[ (-v 'a[$({0})]') ]]", "(( 'a[$({0})]' ))", "x='a[$({0})]'; for ((;x;)); do break; done",
    "[[ x =~ <({0}) ]]", "echo a \\\n[[ x == $({0}) ]]", "a=(\\ #$({0})\n)", "ls \\ # \"$({0})\"", "echo $\"$({0})\"", "[[ a == $({0}) ]]",
    "cat <<E\n${{x='a[$({0})]'}}\nE", "x='a[$({0})]'; [ $x -eq 0 ]", "x='-v a[$({0})]'; [ $x ]", "x=-v; y='a[$({0})]'; [ \"$x\" \"$y\" ]",
    "f() {{ [ \"$@\" ]; }}; f -v 'a[$({0})]'", "echo $[a[$({0})]]", "x=1 if {0}; then :; fi", "a[$({0})]=1", "echo `{0}`", "echo $({0}",
]  # fmt: skip


@pytest.mark.parametrize("form", UNASKED)
def test_what_bash_would_run_is_never_run_unasked_nor_past_a_rule_that_denies(folder: Path, form: str):
    command = form.format("rm x")
    assert verdict(folder, "bash", command) == "ask"
    assert verdict(folder, "bash", command, "auto", deny=["bash(rm)"]) in ("ask", "deny")


@pytest.mark.parametrize(
    "command",
    ["cat ~-/x", "cat ~+/../outside/x", "cat < ~0/../outside/x", "echo ${OLDPWD:=/any}; cat ~-/x", "cat x=~root/y"],
)
def test_a_tilde_that_is_not_the_home_is_not_known(folder: Path, command: str):
    assert verdict(folder, "bash", command) == "ask"


def test_a_quoted_tilde_is_a_letter(folder: Path):
    (folder / "~").mkdir()
    assert verdict(folder, "bash", "cat '~/x' \\~/x \"~\"/x") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "cd src && git status",
        "(cd src; git status)",
        "pushd src; git status",
        "git status; cd src; git status",
        "git status --output=x",
        "git status --outp=x",
        "git status -Osh",
        "npm run x --prefix src",
        "npm run x --pre=src",
        "npm run x -C src",
        "npm run x --script-shell=./x",
    ],
)
def test_what_is_allowed_here_is_not_allowed_elsewhere_nor_with_options_that_do_more(folder: Path, command: str):
    assert verdict(folder, "bash", command, **GIT) == "ask"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status -s && npm run build | cat", "allow"),
        ("git status --porcelain=v2", "allow"),
        ("echo =(make)", "ask"),
        ("echo *(e:make:)", "ask"),
        ("git status =ls", "ask"),
        ("git status $x", "ask"),
        ("git status 'a b'", "ask"),
        ("git status ~x", "ask"),
    ],
)
def test_another_shell_may_read_a_command_in_another_way(folder: Path, command: str, expected: str):
    judge = Permissions(PermissionMode.ASK, PermissionSettings(**GIT), folder, shell="/usr/bin/zsh")
    assert judge.judge(declared_tool("bash"), {"command": command}).verdict == expected


def test_an_option_that_the_rule_names_is_allowed(folder: Path):
    assert verdict(folder, "bash", "make -C sub all", allow=["bash(make -C sub)"]) == "allow"
    assert verdict(folder, "bash", "git -c a=b status", allow=["bash(git -c * status)"]) == "allow"


DENIED_PATHS = ["read(**/.env)", "edit(locked/**)", "read(locked/**)"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat .e*", "ask"),
        ("x=.env; cat $x", "ask"),
        ("cat $(echo .env)", "ask"),
        ("cp victim -t locked", "deny"),
        ("cp victim locked", "deny"),
        ("cp sub/victim locked/", "deny"),
        ("tar -C locked -cf - key", "deny"),
        ("dd if=a.txt of=.env", "deny"),
        ("grep -f.env a.txt", "deny"),
        ("env -S 'cat .env'", "ask"),
        ("cd locked && cat key", "deny"),
        ("cd sub && cat ../.env", "deny"),
        ("cd $x && cat key", "ask"),
        ("cd sub && cat a.txt", "allow"),
        ("cat a.txt", "allow"),
        ("echo $x *", "allow"),
        ("make test", "allow"),
    ],
)
def test_a_word_that_is_not_known_may_be_a_path_that_is_denied(folder: Path, command: str, expected: str):
    (folder / "locked").mkdir()
    assert verdict(folder, "bash", command, "auto", deny=DENIED_PATHS) == expected


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("bash(=make all)", "make all", True),
        ("bash(=make all)", "make all install", False),
        ("bash(=make all)", "make", False),
        ("bash(=git commit -m 'two words')", "git commit -m 'two words'", True),
        ("bash(=git commit -m 'two words')", "git commit -m two words", False),
        ("bash(=ls *)", "make x", False),
    ],
)
def test_a_rule_may_be_of_just_one_command(folder: Path, rule: str, command: str, covered: bool):
    assert verdict(folder, "bash", command, allow=[rule]) == ("allow" if covered else "ask")
    assert verdict(folder, "bash", f"sudo {command}", "auto", deny=[rule]) == ("deny" if covered else "allow")


def test_a_word_that_is_not_known_may_be_the_one_of_a_rule_of_one_command(folder: Path):
    assert verdict(folder, "bash", "make $x", "auto", deny=["bash(=make all)"]) == "ask"


# ── what is suggested


@pytest.mark.parametrize(
    ("tool", "argument", "rules"),
    [
        ("bash", "git push origin main", ["bash(=git push origin main)"]),
        ("bash", "pytest -q", ["bash(=pytest -q)"]),
        ("bash", "timeout 5 make", ["bash(=make)"]),
        ("bash", "timeout -s KILL 5 make", ["bash(=timeout -s KILL 5 make)"]),
        ("bash", "cat /etc/passwd", ["bash(=cat /etc/passwd)"]),
        ("bash", 'git commit -m "it\'s (done) *"', ["""bash(=git commit -m 'it'"'"'s (done) *')"""]),
        ("bash", "git add . && git commit -m x", ["bash(=git add .)", "bash(=git commit -m x)"]),
        ("bash", "ls && make", ["bash(=make)"]),
        ("bash", "cd sub && make", []),
        ("bash", "python3 - <<'E'\nprint()\nE", []),
        ("bash", "git apply < a.txt", []),
        ("bash", "echo a.txt | xargs rm", []),
        ("bash", "make 2>&1 | tail -n 5", ["bash(=make)"]),
        ("bash", "make | (cat; python3 -)", []),
        ("bash", "x=$(make | cat) && make", ["bash(=make)"]),
        ("bash", "rm -rf build", ["bash(=rm -rf build)"]),
        ("bash", "rm $x", []),
        ("bash", "$x", []),
        ("bash", "make > log", ["bash(=make)", "edit({root}/**)"]),
        ("edit", "src/a.py", ["edit({root}/**)"]),
        ("read", "/etc/passwd", ["read(/etc/passwd)"]),
        ("edit", ".git/config", ["edit({root}/.git/config)"]),
        ("weather", "", ["weather"]),
    ],
)
def test_the_suggested_rules_allow_the_call_that_was_asked(folder: Path, tool: str, argument: str, rules: list[str]):
    judge = permissions(folder)
    arguments = {"command": argument} if tool == "bash" else {"path": argument}
    judgement = judge.judge(declared_tool(tool), arguments)
    assert judgement.verdict == "ask"
    assert judgement.rules == [rule.format(root=folder) for rule in rules]
    if rules:
        again = permissions(folder, allow=judgement.rules).judge(declared_tool(tool), arguments)
        assert again.verdict == "allow"


def test_where_a_rule_asks_no_other_rule_is_suggested(folder: Path):
    judgement = permissions(folder, ask=["bash(git push)"]).judge(declared_tool("bash"), {"command": "git push"})
    assert (judgement.rules, judgement.because) == ([], "the rule ask bash(git push)")


def test_a_long_command_is_parsed_in_no_time_worth_mentioning(folder: Path):
    assert len(parse_command("echo a; " * 20_000).parts) == 20_000
