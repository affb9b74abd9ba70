"""grep, find, ls: what is searched, the rules of git, globs, and limits."""

import subprocess
from pathlib import Path

import pytest

from tests.tools.conftest import Tools


def make(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def grep(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> Tools:
    """The tools, for a user without git settings."""
    monkeypatch.setenv("HOME", str(tools.options.cwd.parent))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tools


async def files_of(tools: Tools, **arguments: object) -> list[str]:
    """The files that `needle` is found in."""
    answer = await tools("grep", {"pattern": "needle", **arguments})
    assert not answer.is_error, answer.text
    if answer.text == "No matches found":
        return []
    return sorted({line.split(":")[0] for line in answer.text.split("\n\n[")[0].split("\n")})


TREE: dict[str, str | bytes] = {
    ".gitignore": "*.log\nbuild/\n/only_root\nfoo\n!keep.log\nsub/deep/*.tmp\n**/gen\n# a comment\n\\#lit\n[ab]x\n*.{q,r}\n",
    "a.py": "needle\n",
    "b.log": "needle\n",
    "keep.log": "needle\n",
    "build/x.py": "needle\n",
    "sub/build/y.py": "needle\n",
    "only_root": "needle\n",
    "sub/only_root": "needle\n",
    "foo/z.py": "needle\n",
    "sub/foo": "needle\n",
    "sub/deep/t.tmp": "needle\n",
    "sub/t.tmp": "needle\n",
    "x/gen/q": "needle\n",
    "#lit": "needle\n",
    "ax": "needle\n",
    "cx": "needle\n",
    "m.q": "needle\n",
    ".hidden/h.py": "needle\n",
    "sub/.gitignore": "!b.log\na.py\n",
    "sub/b.log": "needle\n",
    "sub/a.py": "needle\n",
    "ig/.ignore": "*.py\n!s.py\n",
    "ig/r.py": "needle\n",
    "ig/s.py": "needle\n",
    "excluded.txt": "needle\n",
    "white/.gitignore": "!build/\n",
    "white/build/keep.txt": "needle\n",
    "sp ace/ü.txt": "needle\n",
    "-dash.txt": "needle\n",
}


def make_tree(cwd: Path) -> None:
    subprocess.run(["git", "init", "-q", str(cwd)], check=True)
    make(cwd, TREE)
    make(cwd, {".git/info/exclude": "excl*\n", ".git/needle": "needle\n"})
    subprocess.run(["git", "init", "-q", str(cwd / "nested")], check=True)
    make(
        cwd,
        {
            "nested/.gitignore": "*.zz\n",
            "nested/i.log": "needle\n",
            "nested/foo": "needle\n",
            "nested/k.zz": "needle\n",
        },
    )
    (cwd / "link.py").symlink_to("a.py")
    (cwd / "linkdir").symlink_to("sub")
    (cwd / "empty").mkdir()


SEARCHED = [
    "-dash.txt",
    ".hidden/h.py",
    "a.py",
    "cx",
    "ig/s.py",
    "keep.log",
    "nested/foo",
    "nested/i.log",
    "sp ace/ü.txt",
    "sub/b.log",
    "sub/only_root",
    "sub/t.tmp",
    "white/build/keep.txt",
]


async def test_what_git_ignores_is_not_searched_and_nested_repositories_have_rules_of_their_own(
    grep: Tools, cwd: Path
) -> None:
    make_tree(cwd)
    assert await files_of(grep) == SEARCHED
    assert await files_of(grep, path="sub") == ["sub/b.log", "sub/only_root", "sub/t.tmp"]
    assert await files_of(grep, path="white/build") == ["white/build/keep.txt"]


async def test_what_is_asked_for_by_name_is_searched_even_if_it_is_ignored(grep: Tools, cwd: Path) -> None:
    make_tree(cwd)
    assert await files_of(grep, path="b.log") == ["b.log"]
    assert await files_of(grep, path="linkdir") == ["linkdir/b.log", "linkdir/only_root", "linkdir/t.tmp"]
    assert await files_of(grep, path="-dash.txt") == ["-dash.txt"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", [".hidden/h.py", "a.py", "ig/r.py", "ig/s.py", "sub/a.py"]),
        ("*.log", ["b.log", "keep.log", "nested/i.log", "sub/b.log"]),
        ("sub/*", ["sub/a.py", "sub/b.log", "sub/foo", "sub/only_root", "sub/t.tmp"]),
        ("!*.py", [name for name in SEARCHED if not name.endswith(".py")]),
        ("*.{log,tmp}", ["b.log", "keep.log", "nested/i.log", "sub/b.log", "sub/deep/t.tmp", "sub/t.tmp"]),
        ("-dash*", ["-dash.txt"]),
    ],
)
async def test_a_glob_says_which_files(grep: Tools, cwd: Path, glob: str, found: list[str]) -> None:
    make_tree(cwd)
    assert await files_of(grep, glob=glob) == found


async def test_a_glob_is_relative_to_the_path(grep: Tools, cwd: Path) -> None:
    make(cwd, {"p/q/a.py": "needle\n", "p/b.py": "needle\n", "q/c.py": "needle\n"})
    assert await files_of(grep, path="p", glob="q/*.py") == ["p/q/a.py"]
    assert await files_of(grep, path="p", glob="/*.py") == ["p/b.py"]


async def test_without_a_repository_gitignore_says_nothing_but_ignore_does(grep: Tools, cwd: Path) -> None:
    make(cwd, {".gitignore": "a.py\n", ".ignore": "b.py\n", "a.py": "needle\n", "b.py": "needle\n"})
    assert await files_of(grep) == ["a.py"]


async def test_the_rules_of_the_folders_above_hold_too(grep: Tools, cwd: Path) -> None:
    subprocess.run(["git", "init", "-q", str(cwd)], check=True)
    make(
        cwd, {".gitignore": "*.log\n/p/skip\n", "p/q/a.log": "needle\n", "p/q/b.py": "needle\n", "p/skip/c": "needle\n"}
    )
    assert await files_of(grep, path="p") == ["p/q/b.py"]


async def test_lines_are_shown_with_path_and_number_in_the_order_of_the_tree(grep: Tools, cwd: Path) -> None:
    make(cwd, {"b.txt": "one needle\nno\nneedles\n", "a/z.txt": "a needle: here\r\n"})
    answer = await grep("grep", {"pattern": "needles?"})
    assert answer.text == "a/z.txt:1: a needle: here\nb.txt:1: one needle\nb.txt:3: needles"
    assert (answer.details.matches, answer.details.files) == (3, 2)


async def test_lines_around_a_match(grep: Tools, cwd: Path) -> None:
    make(cwd, {"f": "1\n2\nneedle\n4\n5\n6\n7\nneedle\nneedle\n"})
    answer = await grep("grep", {"pattern": "needle", "context": 1})
    assert answer.text.split("\n") == ["f-2- 2", "f:3: needle", "f-4- 4", "--", "f-7- 7", "f:8: needle", "f:9: needle"]


async def test_the_limit_is_told_only_if_there_is_more(grep: Tools, cwd: Path) -> None:
    make(cwd, {"f": "needle\n" * 5, "g": "needle\n" * 5})
    assert "[" not in (await grep("grep", {"pattern": "needle", "limit": 10})).text
    answer = await grep("grep", {"pattern": "needle", "limit": 9})
    assert "9 matches shown, there are more. Use limit=18" in answer.text
    assert answer.details.limit_reached
    for limit in (0, -3):
        assert (await grep("grep", {"pattern": "needle", "limit": limit})).text.startswith(
            "f:1: needle\n\n[1 match shown"
        )


async def test_context_belongs_to_the_matches_that_are_shown(grep: Tools, cwd: Path) -> None:
    make(cwd, {"f": "needle\na\nb\nc\nneedle\n"})
    answer = await grep("grep", {"pattern": "needle", "limit": 1, "context": 1})
    assert answer.text.startswith("f:1: needle\nf-2- a\n\n[1 match shown")


async def test_case_and_literal_text(grep: Tools, cwd: Path) -> None:
    make(cwd, {"f": "Needle(x)\nneedle\nÉCOLE\n"})
    assert (await grep("grep", {"pattern": "NEEDLE", "ignore_case": True})).details.matches == 2
    assert (await grep("grep", {"pattern": "NEEDLE"})).text == "No matches found"
    assert (await grep("grep", {"pattern": "(x)", "literal": True})).text == "f:1: Needle(x)"
    assert (await grep("grep", {"pattern": "école", "ignore_case": True})).details.matches == 1


@pytest.mark.parametrize("pattern", ["-e", "--help", "-v", "--pre=touch x"])
async def test_a_pattern_that_begins_like_an_option_is_a_pattern(grep: Tools, cwd: Path, pattern: str) -> None:
    make(cwd, {"f": f"text {pattern} text\nother\n"})
    assert (await grep("grep", {"pattern": pattern})).text == f"f:1: text {pattern} text"


async def test_the_settings_of_the_person_for_ripgrep_are_not_used(
    grep: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(cwd, {"f": "needle\n", "settings": "--invert-match\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(cwd / "settings"))
    assert await files_of(grep) == ["f"]


async def test_what_is_no_expression_is_an_error_that_shows_where(grep: Tools, cwd: Path) -> None:
    for pattern, reason in {
        "(a": "regex parse error:\n    (?:(a)\n    ^\nerror: unclosed group",
        "[z-a]": "invalid character class range",
        "(?=a)": "look-around, including look-ahead and look-behind, is not supported",
        r"(a)\1": "backreferences are not supported",
        r"\p{Nothing}": "Unicode property not found",
        "a\nb": "lines are searched one by one",
        r"a\nb": 'the literal "\\n" is not allowed',
        "x\ud800": "half a character",
        "\0": "NUL",
        "": "empty",
    }.items():
        answer = await grep("grep", {"pattern": pattern})
        assert answer.is_error and reason in answer.text
        assert "\0" not in answer.text and "Consider" not in answer.text


async def test_binary_and_wide_files(grep: Tools, cwd: Path) -> None:
    make(
        cwd,
        {
            "bin": b"needle\n\0\0",
            "late": b"needle one\n" + b"x\n" * 50_000 + b"\0needle two\n",
            "u16": "needle é\r\nx\r\n".encode("utf-16"),
            "bom": b"\xef\xbb\xbfneedle\r\n",
            "bad": b"needle \xff caf\xe9\n",
        },
    )
    assert await files_of(grep) == ["bad", "bom", "late", "u16"]
    assert (await grep("grep", {"pattern": "^needle$"})).text == "bom:1: needle"
    assert (await grep("grep", {"pattern": "caf"})).text == "bad:1: needle \ufffd caf\ufffd"
    assert "\0" not in (await grep("grep", {"pattern": "needle", "path": "bin"})).text


async def test_long_lines_are_cut_around_the_match(grep: Tools, cwd: Path) -> None:
    make(cwd, {"f": "x" * 5_000 + " needle " + "é" * 5_000 + "\n"})
    answer = await grep("grep", {"pattern": "needle"})
    assert "x needle é" in answer.text
    assert "Long lines are cut" in answer.text
    assert len(answer.text) < 800


async def test_results_stay_within_the_limit_of_bytes(grep: Tools, cwd: Path) -> None:
    make(cwd, {"f": ("needle " + "x" * 300 + "\n") * 1_000})
    answer = await grep("grep", {"pattern": "needle", "limit": 1_000})
    assert len(answer.text.encode()) < 50 * 1024 + 500
    assert "Cut at 50.0KB" in answer.text
    assert answer.details.truncation.total_lines == 1_000


async def test_a_search_for_nothing_that_is_there(grep: Tools, cwd: Path) -> None:
    assert (await grep("grep", {"pattern": "needle"})).text == "No matches found"
    assert (await grep("grep", {"pattern": "needle", "path": "missing"})).is_error


async def find(tools: Tools, pattern: str, **more: object) -> list[str]:
    answer = await tools("find", {"pattern": pattern, **more})
    assert not answer.is_error, answer.text
    return [] if answer.text == "No files found" else answer.text.split("\n\n[")[0].split("\n")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", [".hidden/h.py", "a.py", "ig/s.py", "link.py"]),
        ("A*", []),
        ("cX", []),
        ("CX", []),
        ("cx", ["cx"]),
        ("*.{py,tmp}", [".hidden/h.py", "a.py", "ig/s.py", "link.py", "sub/t.tmp"]),
        ("./a.py", ["a.py"]),
        ("/a.py", ["a.py"]),
        ("sub/*", ["sub/.gitignore", "sub/b.log", "sub/only_root", "sub/t.tmp"]),
        ("**/*.log", ["keep.log", "nested/i.log", "sub/b.log"]),
        ("white/**", ["white/.gitignore", "white/build/", "white/build/keep.txt"]),
        ("[c-d]x", ["cx"]),
        ("ü*", ["sp ace/ü.txt"]),
        ("empty", ["empty/"]),
        ("link*", ["link.py", "linkdir"]),
        ("-dash*", ["-dash.txt"]),
        ("py", []),
        (".git", []),
        ("?x", ["cx"]),
    ],
)
async def test_files_are_found_by_glob(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, found: list[str]
) -> None:
    monkeypatch.setenv("HOME", str(cwd.parent))
    make_tree(cwd)
    assert await find(tools, pattern) == found


async def test_a_pattern_with_a_slash_begins_at_the_folder_that_is_searched(tools: Tools, cwd: Path) -> None:
    make(cwd, {"p/q/a.py": "", "q/a.py": "", "p/a.py": ""})
    assert await find(tools, "q/a.py") == ["q/a.py"]
    assert await find(tools, "q/a.py", path="p") == ["p/q/a.py"]
    assert await find(tools, "a.py", path="p") == ["p/a.py", "p/q/a.py"]


async def test_the_limit_of_find_is_told_only_if_there_is_more(tools: Tools, cwd: Path) -> None:
    make(cwd, {f"f{number}": "" for number in range(5)})
    assert "[" not in (await tools("find", {"pattern": "f*", "limit": 5})).text
    assert "4 results shown, there are more" in (await tools("find", {"pattern": "f*", "limit": 4})).text
    assert (await tools("find", {"pattern": "f*", "limit": -1})).text.startswith("f0\n\n[1 result shown")


async def test_what_is_no_glob_or_no_folder_is_an_error(tools: Tools, cwd: Path) -> None:
    make(cwd, {"f": ""})
    for arguments in (
        {"pattern": "[a"},
        {"pattern": "{a"},
        {"pattern": ""},
        {"pattern": "*", "path": "f"},
        {"pattern": "*", "path": "no"},
    ):
        assert (await tools("find", arguments)).is_error


async def test_modules_in_the_searched_folder_are_not_run(tools: Tools, cwd: Path) -> None:
    make(cwd, {"json.py": "open('PWNED', 'w')", "re.py": "open('PWNED', 'w')", "msgspec.py": "open('PWNED', 'w')"})
    assert await find(tools, "*.py") == ["json.py", "msgspec.py", "re.py"]
    assert not (cwd / "PWNED").exists()


async def test_a_folder_is_listed_without_regard_to_case_with_folders_marked(tools: Tools, cwd: Path) -> None:
    make(cwd, {"b.txt": "", "A.txt": "", ".hidden": "", "Sub/x": ""})
    (cwd / "to_sub").symlink_to("Sub")
    assert (await tools("ls", {})).text == ".hidden\nA.txt\nb.txt\nSub/\nto_sub/"
    assert (await tools("ls", {"path": "Sub"})).text == "x"
    answer = await tools("ls", {"limit": 2})
    assert answer.text == ".hidden\nA.txt\n\n[2 of 5 entries shown. Use limit=4 for more.]"
    assert "[" not in (await tools("ls", {"limit": 5})).text


async def test_empty_and_missing_folders(tools: Tools, cwd: Path) -> None:
    assert (await tools("ls", {})).text == "(empty folder)"
    assert (await tools("ls", {"path": "no"})).is_error
    (cwd / "f").touch()
    assert "not a folder" in (await tools("ls", {"path": "f"})).text
