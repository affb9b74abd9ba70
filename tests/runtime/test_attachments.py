"""What `@file` attaches: what the read tool shows of it, or one line that says why not."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from agentcli.agent.errors import UsageError
from agentcli.agent.messages import ImageContent, text_of
from agentcli.runtime.attachments import Attachments
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.read import ReadToolInput, read_file
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.options import ToolOptions
from tests.agent.doubles import say
from tests.files.images import PNG
from tests.runtime.conftest import Make


def attachments(folder: Path) -> Attachments:
    return Attachments(ToolOptions(cwd=folder))


def prompt(folder: Path, *arguments: str) -> str:
    return text_of(attachments(folder).build_prompt(arguments).content)


def picture(kind: str, size: tuple[int, int] = (4, 4), mode: str = "RGB") -> bytes:
    buffer = BytesIO()
    Image.effect_noise(size, 90).convert(mode).save(buffer, kind)
    return buffer.getvalue()


def test_a_text_is_attached_as_read_shows_it(tmp_path: Path):
    for name, data in (
        ("latin.txt", b"caf\xe9\n" * 3),
        ("utf16.txt", "h\u00e9\r\n".encode("utf-16")),
        ("long.txt", b"line\n" * 5000),
        ("wide.txt", b"x" * 100_000),
        ("empty.txt", b""),
    ):
        (tmp_path / name).write_bytes(data)
        options = ToolOptions(cwd=tmp_path)
        with FilePlace(tmp_path / name) as place:
            shown = read_file(place, ReadToolInput(path=name), options, ReadTracker(), lambda: False)
        text = f'<file name="{tmp_path / name}">\n{text_of(shown.content)}\n</file>\n\nlook'
        assert prompt(tmp_path, f"@{name}", "look") == prompt(tmp_path, f"@{name} look") == text


def test_an_image_is_attached_as_read_shows_it(tmp_path: Path):
    for name, data in (
        ("a.bmp", picture("BMP")),
        ("large.png", picture("PNG", (2400, 800), "L")),
        ("a.jpg", picture("JPEG")),
    ):
        (tmp_path / name).write_bytes(data)
        made = attachments(tmp_path).build_prompt([f"@{name}"])
        (image,) = [block for block in made.content if isinstance(block, ImageContent)]
        with FilePlace(tmp_path / name) as place:
            shown = read_file(place, ReadToolInput(path=name), ToolOptions(cwd=tmp_path), ReadTracker(), lambda: False)
        assert image in shown.content
        assert attachments(tmp_path).images_in(f"look at @{name}, please") == [image]
    assert (tmp_path / "large.png").stat().st_size > 1 << 20


@pytest.mark.parametrize("arguments", [["@{}", "say hi"], ["@{} say hi"], ['@"{}" say hi'], ["@{}"]])
@pytest.mark.parametrize(
    "name, says", [("data.bin", "binary"), ("half.png", "its end is missing"), ("sub", "a folder")]
)
def test_what_cannot_be_attached_is_one_line(tmp_path: Path, arguments: Sequence[str], name: str, says: str):
    (tmp_path / "data.bin").write_bytes(b"\0\1\2")
    (tmp_path / "half.png").write_bytes(PNG[:-12])
    (tmp_path / "sub").mkdir()
    with pytest.raises(UsageError, match=f"@{name} cannot be attached: .*{says}") as error:
        prompt(tmp_path, *(argument.format(name) for argument in arguments))
    assert "\n" not in str(error.value)


def test_a_damaged_image_in_a_text_is_told_and_other_files_stay_words(tmp_path: Path):
    (tmp_path / "half.png").write_bytes(PNG[:-12])
    (tmp_path / "notes.txt").write_text("notes")
    with pytest.raises(UsageError, match=r"half\.png cannot be attached"):
        attachments(tmp_path).images_in("see @half.png")
    assert prompt(tmp_path, "compare @notes.txt with it") == "compare @notes.txt with it"
    (tmp_path / "text.png").write_text("a text")
    assert attachments(tmp_path).images_in("see @text.png") == []


def test_what_looks_like_a_file_and_is_none_is_words_and_said(tmp_path: Path):
    for text, told in (
        ("@none.txt say hi", 1),
        ("@none.txt, say hi", 1),
        ("@src/none say hi", 1),
        ("see @none.png", 1),
        ("@none.png say hi", 1),
        ("@alice say hi", 0),
        ("@ say hi", 0),
        ("@~nobody-here say hi", 1),
    ):
        attaching = attachments(tmp_path)
        assert text_of(attaching.build_prompt([text]).content) == text
        assert len(attaching.notices) == told, text


def test_several_files_at_the_beginning_of_one_word(tmp_path: Path):
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "b c.txt").write_text("B")
    made = prompt(tmp_path, '@a.txt @"b c.txt" compare them')
    assert made.endswith("\n\ncompare them") and ">\nA\n<" in made and ">\nB\n<" in made
    assert prompt(tmp_path, "@b c.txt").endswith("B\n</file>")
    assert prompt(tmp_path, "@a.txt, compare").endswith("\n</file>\n\ncompare")


async def test_a_runtime_makes_prompts_with_files_and_knows_what_the_model_has_seen(make: Make):
    runtime = make([say("ok")])
    file = runtime.cwd / "a.txt"
    file.write_text("text")
    await runtime.prompt(runtime.attachments.build_prompt(["@a.txt", "look"]))
    assert text_of(runtime.agent.state.messages[0].content) == f'<file name="{file}">\ntext\n</file>\n\nlook'
    file.write_text("changed since")
    assert runtime._toolset.files.known.knows(file, file.stat()) is False
