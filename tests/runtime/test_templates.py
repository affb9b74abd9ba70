"""Prompt templates and skills: what `/name arguments` and `/skill:name` stand for."""

import asyncio
from pathlib import Path

import pytest

from agentcli.agent.messages import text_of
from agentcli.config.configuration import load_configuration
from agentcli.runtime.resources.frontmatter import split_frontmatter
from agentcli.runtime.resources.slash_commands import SlashCommands
from agentcli.runtime.resources.templates import fill_in, split_arguments
from tests.agent.doubles import call, say
from tests.files.judges import any_file
from tests.runtime.conftest import Make


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("template", "written", "text"),
    [
        ("$1 and $2", "a b c", "a and b"),
        ("all: $@", "a  b", "all: a  b"),
        ("all: $ARGUMENTS.", "a b", "all: a b."),
        ("[$3]", "a b", "[]"),
        ("${1:-x} ${2:-y z}", "a", "a y z"),
        ("${@:-nothing}", "", "nothing"),
        ("${@:2}", "a b c", "b c"),
        ("${@:2:1}", "a b c", "b"),
        ("${10}", "a b c d e f g h i j", "j"),
        ("$1", "'a b' c", "a b"),
        ("$1|$2", '"" x', "|x"),
        ("$1", "don't", "don't"),
        ("$1 costs $100", "it", "it costs $100"),
        ("$1", "$2 $1", "$2"),
        ("$@", "costs $100 and ${1}", "costs $100 and ${1}"),
        ("no place", "but words", "no place\n\nbut words"),
        ("no place", "", "no place"),
        ("$x $ $$ ${} ${x}", "a", "$x $ $$ ${} ${x}\n\na"),
    ],
)
def test_a_template_takes_its_arguments(template: str, written: str, text: str):
    assert fill_in(template, split_arguments(written), written) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b", ["a", "b"]),
        ("  a\tb\nc ", ["a", "b", "c"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        ('"a \\" b"', ['a " b']),
        ("it's a dog's", ["it's", "a", "dog's"]),
        ("''", [""]),
        ("'unclosed word", ["'unclosed", "word"]),
        ("", []),
    ],
)
def test_words_are_split_as_a_person_means_them(text: str, words: list[str]):
    assert split_arguments(text) == words


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("just text", {}, "just text"),
        ("---\nname: a\n---\nbody", {"name": "a"}, "body"),
        ("\ufeff---\r\nname: a\r\n---\r\nbody\r\n", {"name": "a"}, "body\n"),
        ("---\na: 'it''s'\nb: \"x: y\"\nc: z # comment\n---\n", {"a": "it's", "b": "x: y", "c": "z"}, ""),
        ("---\na: >\n  one\n  two\nb: |\n  three\n  four\n---\n", {"a": "one two", "b": "three\nfour"}, ""),
        ("---\na: one\n  two\nmeta:\n  - x\n---\n", {"a": "one two", "meta": ""}, ""),
        ("---\nnot closed", {}, "---\nnot closed"),
        ("--- text", {}, "--- text"),
    ],
)
def test_frontmatter(text: str, fields: dict[str, str], body: str):
    assert split_frontmatter(text) == (fields, body)


def test_the_persons_own_template_counts_before_the_projects(tmp_path: Path):
    own = write(tmp_path / "own" / "review.md", "---\ndescription: Mine\nargument-hint: FILE\n---\nmine: $1\n").parent
    other = write(tmp_path / "project" / "review.md", "theirs: $1").parent
    write(tmp_path / "project" / "fix.md", "Fix it.\nMore.")
    commands = SlashCommands([own, other], [], any_file)
    assert commands.expand("/review x") == "mine: x"
    assert commands.expand("/fix") == "Fix it.\nMore."
    assert [(each.name, each.description, each.argument_hint) for each in commands.listed()] == [
        ("review", "Mine", "FILE"),
        ("fix", "Fix it.", ""),
    ]


@pytest.mark.parametrize(
    "text", ["/etc/hosts is odd", "/unknown x", "no /review x", "/", "//review", " /review x", "/skill:none"]
)
def test_a_text_that_names_nothing_is_left_as_it_is(tmp_path: Path, text: str):
    folder = write(tmp_path / "review.md", "mine").parent
    assert SlashCommands([folder], [], any_file).expand(text) == text


SKILL = "---\nname: pdf\ndescription: Work with PDF files\n---\nUse pdftotext.\n"


def test_a_skill_is_put_into_the_prompt_when_it_is_called(tmp_path: Path):
    folder = write(tmp_path / "skills" / "pdf" / "SKILL.md", SKILL).parent
    text = SlashCommands([], [tmp_path / "skills"], any_file).expand("/skill:pdf read a.pdf")
    assert text == f'<skill name="pdf" folder="{folder}">\nUse pdftotext.\n</skill>\n\nread a.pdf'


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("Pdf", "---\nname: Pdf\ndescription: x\n---\n", "no name for a skill"),
        ("a", "---\nname: a\n---\n", "no description"),
        ("a", "no frontmatter", "no description"),
        ("a--b", "---\nname: a--b\ndescription: x\n---\n", "no name"),
        ("a", f"---\nname: {'a' * 65}\ndescription: x\n---\n", "no name"),
    ],
)
def test_a_skill_that_is_wrong_is_left_out_and_told(tmp_path: Path, name: str, text: str, says: str):
    write(tmp_path / name / "SKILL.md", text)
    commands = SlashCommands([], [tmp_path], any_file)
    assert commands.skills == []
    assert says in commands.notices[0]


def test_of_two_skills_of_one_name_the_first_counts_and_a_link_is_no_second_one(tmp_path: Path):
    write(tmp_path / "one" / "pdf" / "SKILL.md", SKILL)
    write(tmp_path / "two" / "pdf" / "SKILL.md", SKILL)
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "pdf").symlink_to(tmp_path / "one" / "pdf")
    commands = SlashCommands([], [tmp_path / "one", tmp_path / "three", tmp_path / "two"], any_file)
    assert [skill.path for skill in commands.skills] == [tmp_path / "one" / "pdf" / "SKILL.md"]
    assert len(commands.notices) == 1


async def test_the_model_is_told_of_skills_and_may_read_them_outside_of_the_folder(make: Make, tmp_path: Path):
    path = write(tmp_path / "home" / "skills" / "pdf" / "SKILL.md", SKILL)
    write(
        tmp_path / "home" / "skills" / "own" / "SKILL.md", "---\ndescription: x\ndisable-model-invocation: true\n---\n"
    )
    write(tmp_path / "work" / ".agents" / "skills" / "web" / "SKILL.md", "---\ndescription: y\n---\n")
    runtime = make([call("read", "a", path=str(path))], [say("ok")], answers_permissions=True)
    await asyncio.wait_for(runtime.prompt("go"), 20)
    prompt = runtime.agent.state.system_prompt
    assert f"- pdf: Work with PDF files ({path})" in prompt
    assert "- web: y" in prompt
    assert "- own:" not in prompt
    assert {command.name for command in runtime.commands()} == {"skill:pdf", "skill:own", "skill:web"}
    assert "Use pdftotext." in text_of(runtime.agent.state.messages[2].content)


async def test_prompts_steering_and_follow_ups_are_expanded(make: Make, tmp_path: Path):
    write(tmp_path / "work" / ".agentcli" / "prompts" / "hi.md", "Hello $1")
    runtime = make([say("ok")], [say("ok")], [say("ok")])
    runtime.steer("/hi two")
    runtime.follow_up("/hi three")
    await runtime.prompt("/hi one")
    said = [text_of(message.content) for message in runtime.agent.state.messages if message.role == "user"]
    assert said == ["Hello one", "Hello two", "Hello three"]


async def test_instructions_of_the_person_and_of_a_trusted_project_replace_and_append(make: Make, tmp_path: Path):
    write(tmp_path / "home" / "SYSTEM.md", "be mine")
    write(tmp_path / "home" / "APPEND_SYSTEM.md", "and brief")
    write(tmp_path / "work" / ".agentcli" / "SYSTEM.md", "be theirs")
    write(tmp_path / "work" / ".agentcli" / "APPEND_SYSTEM.md", "and loud")
    untrusted = make([say("ok")], load=load_configuration).agent.state.system_prompt
    assert untrusted.startswith("be mine\n\nand brief\n\nThe folder")
    trusted = make([say("ok")], load=lambda cwd: load_configuration(cwd, trust=True)).agent.state.system_prompt
    assert trusted.startswith("be theirs\n\nand brief\n\nand loud\n\nThe folder")


def test_a_hostile_template_takes_no_square_of_its_length():
    """Each takes minutes if its cost grows with the square of it."""
    fields, body = split_frontmatter("---\n" + "a:\n" * 30_000 + "---\nbody")
    assert (fields, body) == ({"a": ""}, "body")
    assert fill_in("${1:-" * 50_000, ["x"], "x").endswith("x")
