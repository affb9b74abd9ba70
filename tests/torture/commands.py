"""Commands of every shape, each judged and then run by a real bash: what runs or is written is among what was judged.

The only programs that bash finds are `aa`, `bb` and `cc`, which say that they ran, and a few that run others.
"""

import contextlib
import os
import random
import select
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agentcli.runtime.permissions.command_parts import ParsedCommand, parse_command
from agentcli.runtime.permissions.command_words import RUNNERS

SIMPLE = [
    "aa", "bb x", "cc -x 'y z'", "'aa' x", '"bb"', "a\\a", "c''c", 'b"b" x', "$X", "$(echo aa)", "A=1 bb", "aa\\\n x", "$'aa'",
    "aa # bb", "aa <<'E'\n$(bb)\nE\n", "a{a,b}", "{aa,x}", "aa;", "eval bb", "${Y:-cc}", "\\aa", "aa {a..c}", "bb *", "aa=1",
    "[ -n x ]", "aa > f", "bb >> g", "aa 2>f >&2", "aa >| 'f g'", "cc &> f", "aa {fd}> f", "x=5", "echo ~-/f", "cat < ~+/f",
    "echo a#b", "echo \\ # bb", "echo $'a\\'b' bb", 'echo $"aa"', "echo a\\\\ #aa", 'echo "a$"', "echo a$", "echo $[aa]",
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
    # What was once read differently by the judge and by bash.
    "echo ${{HOME%%$({0})}}", "echo ${{HOME#$({0})}}", "echo ${{HOME^^$({0})}}", "echo ${{HOME,,$({0})}}", "echo ${{HOME//$({0})}}",
    "cat <<E\n`{0}`\nE\n", "echo \"${{x:-'$({0})'}}\"", "echo \\ #; {0}", "echo <<< $\n{0}", "a='x[$({0})]'; echo ${{@:a}}",
    "a='x[$({0})]'; echo ${{*:a}}", "a='x[$({0})]'; echo ${{HOME:a}}", "x='b[$({0})]'; a=([x]=1)", "[[ (-v 'a[$({0})]') ]]",
    "[[ -v 'a[$({0})]' ]]", "[ -v 'a[$({0})]' ]", "test -v 'a[$({0})]'", "(( 'a[$({0})]' ))", "x='a[$({0})]'; for ((;x;)); do break; done",
    "[[ x =~ <({0}) ]]", "echo a \\\n[[ x == $({0}) ]]", "a=(\\ #$({0})\n)", "x='a[$({0})]'; echo $((x))", "let 'a[$({0})]=1'",
    "x='a[$({0})]'; [[ $x -eq 0 ]]", "declare -i 'x=a[$({0})]'", "x='a[$({0})]'; declare -i y=x", "printf -v 'a[$({0})]' x",
    "read 'a[$({0})]' <<< x", "unset 'a[$({0})]'", "export 'a[$({0})]=1'", "x='a[$({0})]'; printf -v $x y", "x='-v a[$({0})]'; [ $x ]",
    "x=-v; y='a[$({0})]'; [ \"$x\" \"$y\" ]", "f() {{ [ \"$@\" ]; }}; f -v 'a[$({0})]'", "cat <<E\n${{x='a[$({0})]'}}\nE\n",
    "ls \\ # \"$({0})\"", "echo $\"a $({0})\"", "echo $'a' $({0})", "x=\\$\\({0}\\); echo ${{x@P}}", "y=x; x='$({0})'; echo ${{!y}}",
    "[[ a == $({0}) ]]", "[[ ! ( -n $({0}) ) ]]", "[[ -n a && -z b || $({0}) ]]", "echo a#$({0})", "echo '#' $({0})", "cat <<-E\n\t$({0})\n\tE\n",
    "cat <<'E' && {0}\n$(bb)\nE\n", "cat <<E; cat <<F\n$({0})\nE\n{1}\nF\n", "echo \"`{0}\"`", "a[1]=$({0})", "a[$({0})]=1", "echo ${{a[$({0})]}}",
    "mapfile -C '{0}' -c 1 <<< x", "x() {{ {0}; }}; trap x EXIT", "echo {{a,$({0})}}", "case x in $({0})) {1};; esac",
    "for x in $({0}); do {1}; done", "{0} <<E\nE\n{1}", "echo $({0}\n{1})", "echo $( ( {0} ) )", "echo $(case x in x) {0};; esac)",
    "echo $(cat <<E\n$({0})\nE\n)", "echo \"$(echo \"$({0})\")\"", "if true; then {0}; elif {1}; then aa; fi", "{0} | while read x; do {1}; done",
    "{{ {0}; }} > f", "( {0} ) 2> g", "f() ( {0} ); f", "f() {{ {0}; }} > g; f", "echo ${{#x}} ${{x-$({0})}}", "{0} >& f", "{0} <> f",
    "exec 3> f; {0} >&3", "alias q='{0}'; q", "hash -p $PWD/aa cc; cc", "builtin eval '{0}'", "command eval '{0}'", "echo $_ $({0})",
    "time -p {0}", "! ! {0}", "time ! {0}", "coproc x {{ {0}; }}; wait", "echo a;{0}", "echo a&{0}", "echo a|{0}", "({0})", "(({0}))", "[ x ]&&{0}",
]  # fmt: skip

DAMAGE = [
    *"\n\\'\"$(){}[];&|# \t`=!<~*?:@^,",
    "\\\n",
    "$(",
    "${",
    "<(",
    "$'",
    '$"',
    "\\ ",
    "''",
    '""',
    "[[ ",
    " ]]",
    "<<E\n",
    "\nE\n",
]

PROGRAMS = ("cat", "wc", "env", "nohup", "timeout", "bash", "ls")


def random_command(chance: random.Random) -> str:
    """A command of shapes in each other; every other one with characters put in that mean something, wherever they fall."""

    def grown(depth: int) -> str:
        if depth == 0 or chance.random() < 0.2:
            return chance.choice(SIMPLE)
        return chance.choice(SHAPES).format(grown(depth - 1), grown(depth - 1))

    text = grown(chance.choice((1, 1, 2, 2, 3)))
    if chance.random() < 0.5:
        for _ in range(chance.randint(1, 3)):
            place = chance.randint(0, len(text))
            text = text[:place] + chance.choice(DAMAGE) + text[place:]
    return text


def make_programs(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in ("aa", "bb", "cc"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} >> "$STUB_LOG"\n')
        (folder / name).chmod(0o755)
    for name in PROGRAMS:
        if found := shutil.which(name, path="/usr/bin:/bin"):
            (folder / name).symlink_to(found)


def differences(folder: Path, programs: Path, command: str, parsed: ParsedCommand) -> set[str]:
    """Run a command in a new folder. Returns the programs that ran, and the files that it made, though no part says so."""
    if any(None in part.words and part.words[0] in RUNNERS for part in parsed.parts):
        return set()
    folder.mkdir()
    log = folder.with_suffix(".log")
    log.touch()
    environment = {"PATH": str(programs), "STUB_LOG": str(log), "X": "aa", "HOME": str(folder)}
    _run([str(programs / "bash"), "-c", command], environment, folder)
    judged = {word.rpartition("/")[2] for part in parsed.parts for word in part.words if word is not None}
    found = set(log.read_text().split()) - judged
    targets = [redirection.target for redirection in parsed.redirections if redirection.writes]
    if None not in targets:
        made = {path.name for path in folder.iterdir()} - {"nohup.out"}
        found |= {f"> {name}" for name in made - {str(target).removeprefix("./") for target in targets}}
    shutil.rmtree(folder, ignore_errors=True)
    log.unlink()
    return found


def _run(command: list[str], environment: dict[str, str], folder: Path) -> None:
    """Run a command until it and all that it left running has ended, for 3 s at most: an endless loop has said enough."""
    quiet = subprocess.DEVNULL
    ended, held = os.pipe()
    process = subprocess.Popen(
        command, env=environment, cwd=folder, stdin=quiet, stdout=quiet, stderr=quiet, pass_fds=[held],
        start_new_session=True,
    )  # fmt: skip
    os.close(held)
    # The end of the pipe comes when nobody holds its other side any more.
    select.select([ended], [], [], 3)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    os.close(ended)


def commands(folder: Path, count: int, seed: int = 0) -> None:
    chance = random.Random(seed)
    programs = folder / "programs"
    make_programs(programs)
    texts = [random_command(chance) for _ in range(count)]
    understood = [(text, parsed) for text in texts if (parsed := parse_command(text)).unclear is None]

    def run(number: int) -> tuple[str, set[str]]:
        text, parsed = understood[number]
        return text, differences(folder / f"work{number}", programs, text, parsed)

    with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as threads:
        wrong = [(text, found) for text, found in threads.map(run, range(len(understood))) if found]
    assert not wrong, f"{len(wrong)} commands did what no part of them says: {wrong[:20]}"
    print(f"commands: {count}, {len(understood)} understood and run by bash; none did more than was judged", flush=True)
