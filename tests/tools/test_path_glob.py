"""Globs of find mean what they mean to ripgrep, and take no time to compare."""

import subprocess
from pathlib import Path

import pytest

from agentcli.tools.search.path_glob import PathGlob
from agentcli.tools.search.ripgrep import ripgrep

FILES = [
    "a.py", "b.txt", "ab", "a[1].py", "{x}", "-d", "\\q", "src/a.py", "src/sub/a.py", "src/sub/deep/b.txt",
    "sub/src/a.py", "c/keep", "c/drop", "ü/é.py", ".hid/x.py", "aXbXc", "a-b-c-d.py",
]  # fmt: skip
GLOBS = [
    "*", "**", "**/*", "*.py", "src/**", "src/*", "**/src/*.py", "src/**/*.py", "**/sub/**", "/a.py", "a?", "[ab]*", "[!a]*",
    "[^a-b]*", "*.{py,txt}", "{src,c}/**", "{a,b{.txt,x}}*", "a[[]1].py", "a\\[1\\].py", "[{]x[}]", "src/**/**/a.py", "**/a.py",
    "src/**/deep/**/b.txt", "a**c", "a*b*c*", "*a*b*", "sub/*/a.py", "é.py", "ü/*", ".*/*", "-d", "src", "*.PY", "**/",
    "[]a]*", "\\\\q", "a[1].py", "nothing",
]  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def listed_by_ripgrep(folder: Path, glob: str) -> subprocess.CompletedProcess[str]:
    command = [ripgrep(), "--files", "--no-config", "--hidden", f"--glob={glob}"]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def test_a_glob_means_the_same_files_as_in_grep(tree: Path) -> None:
    for glob in GLOBS:
        listed = [] if glob.endswith("/") else listed_by_ripgrep(tree, glob).stdout.splitlines()
        matches = PathGlob(glob)
        if glob.lower() == glob:  # grep does not fold case
            assert sorted(filter(matches, FILES)) == sorted(listed), glob
            rest = [name for name in FILES if name not in listed_by_ripgrep(tree, f"!{glob}").stdout.splitlines()]
            if "/" not in glob and glob not in ("*", "**"):
                assert sorted(name for name in FILES if not PathGlob(f"!{glob}")(name)) == sorted(rest), glob


def test_what_is_no_glob_for_ripgrep_is_none_for_find(tree: Path) -> None:
    for glob in ("[a", "{a", "a}", "[z-a]", "a\\", "{a,[}", "[!", "a/[b"):
        assert listed_by_ripgrep(tree, glob).returncode == 2, glob
        with pytest.raises(ValueError):
            PathGlob(glob)
    with pytest.raises(ValueError, match="more than 1,000"):
        PathGlob("{a,b}" * 11)


def test_folders_case_and_negation() -> None:
    assert PathGlob("src/")("x/src/") and not PathGlob("src/")("src")
    assert PathGlob("src")("src/") and not PathGlob("src/**")("src/")
    assert PathGlob("readme*")("README.md") and not PathGlob("Readme*")("README.md")
    assert not PathGlob("!src")("src/a") and not PathGlob("!src")("src/") and PathGlob("!src")("a")
    assert not PathGlob("!src/**")("src/a/b")


def test_no_glob_takes_long() -> None:
    name = "a" * 250
    for glob in ("*a" * 60 + "b", "**/" + "*a*/**/" * 60 + "b", "{a,b}*" * 8 + "c", "*?" * 60 + "b", "**a" * 60 + "b"):
        matches = PathGlob(glob)
        assert not matches(name) and not matches("/".join([name] * 15))
