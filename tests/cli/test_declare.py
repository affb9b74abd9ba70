"""The quick way and Typer read the same declarations in the same way."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.cli.app import app
from agentcli.cli.declare import quick_arguments
from agentcli.cli.rpc import rpc
from agentcli.cli.run import run


def by_typer(words: list[str], monkeypatch: pytest.MonkeyPatch | None = None) -> dict[str, Any] | None:
    """What Typer would call `run` with; None if it would not call it."""
    import typer

    command = typer.main.get_command(app).commands["run"]  # type: ignore[attr-defined]
    try:
        context = command.make_context("run", list(words))
    except (typer.Exit, Exception):
        return None
    seen: dict[str, Any] = {}
    callback = command.callback
    names = list(context.params)
    import agentcli.cli.app as module

    real, module.run = module.run, lambda **arguments: seen.update(arguments)
    try:
        context.invoke(callback, **{name: context.params[name] for name in names})
    except typer.Exit:
        pass
    finally:
        module.run = real
    return seen


USUAL = [
    ["hi"],
    ["fix", "the bug", "@a.py"],
    ["-"],
    ["--model", "a/b:high", "hi"],
    ["--model=a/b", "hi", "-c"],
    ["hi", "-m", "x", "--no-session", "-C", "some/folder"],
    ["--max-turns", "3", "--session", "abc", "hi"],
    ["--permission-mode", "read-only", "--trust", "hi"],
    ["--output", "json", "--schema", "s.json", "hi"],
    ["-o", "events", "--max-tokens=5", "--max-cost", "0.5", "--timeout", "1e2", "hi"],
    [],
]


@pytest.mark.parametrize("words", USUAL, ids=" ".join)
def test_the_usual_forms_are_read_the_quick_way_as_typer_reads_them(words: list[str]):
    quick = quick_arguments(run, words)
    assert quick is not None
    assert quick == by_typer(words)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"], ["-h"], ["--nope"], ["--model"], ["-mx", "hi"], ["--", "hi"], ["--max-turns", "0"], ["--max-turns", "x"],
        ["--permission-mode", "root"], ["--continue=yes"], ["--model", "--trust"], ["-cm", "x"], ["---\nname: x\n---"],
        ["--output", "xml"], ["--max-cost", "-1"], ["--max-cost", "x"], ["--timeout", "nan"], ["--timeout", "inf"], ["--max-tokens", "1.5"],
    ],
    ids=str,
)  # fmt: skip
def test_everything_else_is_left_to_typer(words: list[str]):
    assert quick_arguments(run, words) is None


WORDS = st.sampled_from(
    [
        "hi",
        "-",
        "--",
        "-c",
        "--continue",
        "--model",
        "-m",
        "x/y",
        "--max-turns",
        "2",
        "0",
        "--cwd",
        "-C",
        ".",
        "--session=z",
        "-o",
        "json",
        "--timeout",
        "0.5",
        "-h",
        "@f",
        "",
    ]
)


def test_words_are_nothing_to_a_command_that_takes_none():
    assert quick_arguments(rpc, ["--no-session"]) is not None
    assert quick_arguments(rpc, ["hi"]) is None


@given(st.lists(WORDS, max_size=6))
def test_they_never_disagree(words: list[str]):
    quick = quick_arguments(run, words)
    if quick is not None:
        assert quick == by_typer(words)
