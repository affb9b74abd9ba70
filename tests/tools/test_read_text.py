"""Reading text: ranges, limits, encodings, and what is no text."""

import asyncio
import codecs
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcli.agent.abort import AbortController
from agentcli.tools.files.file_place import FilePlace
from agentcli.tools.files.read import ReadToolInput, read_file
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.files.text_file import guess_encoding
from agentcli.tools.options import ToolOptions
from tests.growth.cost import memory
from tests.tools.conftest import INPUTS, Tools

MAX_BYTES = 50 * 1024


async def test_the_text_comes_plain_without_line_numbers(tools: Tools, cwd: Path) -> None:
    (cwd / "a.txt").write_text("one\n\ttwo  \nthree\n")
    answer = await tools.read("a.txt")
    assert answer.text == "one\n\ttwo  \nthree"
    assert (answer.details.first_line, answer.details.last_line, answer.details.total_lines) == (1, 3, 3)


async def test_an_empty_file_is_named_as_empty(tools: Tools, cwd: Path) -> None:
    (cwd / "empty.txt").touch()
    answer = await tools.read("empty.txt")
    assert not answer.is_error
    assert "empty.txt is empty" in answer.text


async def test_a_range_of_lines(tools: Tools, cwd: Path) -> None:
    (cwd / "n.txt").write_text("".join(f"{number}\n" for number in range(1, 101)))
    answer = await tools.read("n.txt", offset=10, limit=3)
    assert answer.text == "10\n11\n12\n\n[88 more lines in the file. Use offset=13 to continue.]"
    assert (await tools.read("n.txt", offset=100)).text == "100"
    assert (await tools.read("n.txt", offset=99, limit=50)).text == "99\n100"


async def test_the_last_line_without_a_line_end_is_a_line(tools: Tools, cwd: Path) -> None:
    (cwd / "three.txt").write_text("a\nb\nc")
    assert (await tools.read("three.txt", offset=3)).text == "c"
    assert (await tools.read("three.txt")).text == "a\nb\nc"


async def test_an_offset_past_the_end_is_an_error_that_gives_the_number_of_lines(tools: Tools, cwd: Path) -> None:
    for content in ("a\nb\nc", "a\nb\nc\n"):
        (cwd / "three.txt").write_text(content)
        answer = await tools.read("three.txt", offset=4)
        assert answer.is_error
        assert "3 lines" in answer.text


@pytest.mark.parametrize("bad", [{"offset": 0}, {"offset": -1}, {"limit": 0}, {"limit": -5}, {"offset": 1.5}])
async def test_a_range_that_makes_no_sense_is_refused_and_not_bent(tools: Tools, cwd: Path, bad: dict) -> None:
    (cwd / "three.txt").write_text("a\nb\nc")
    answer = await tools.read("three.txt", **bad)
    assert answer.is_error
    assert next(iter(bad)) in answer.text


async def test_exactly_as_many_lines_as_fit_come_without_a_notice(tools: Tools, cwd: Path) -> None:
    (cwd / "full.txt").write_text("x\n" * 2000)
    answer = await tools.read("full.txt")
    assert answer.text == "\n".join("x" * 2000)
    assert answer.details.truncation is None


async def test_more_lines_than_fit_are_cut_with_the_way_to_go_on(tools: Tools, cwd: Path) -> None:
    (cwd / "long.txt").write_text("".join(f"{number}\n" for number in range(1, 2502)))
    answer = await tools.read("long.txt")
    assert answer.text.endswith("2000\n\n[Showing lines 1-2000 of 2501. Use offset=2001 to continue.]")
    assert answer.details.truncation.truncated_by == "lines"
    answer = await tools.read("long.txt", offset=2001)
    assert answer.text.startswith("2001\n")
    assert answer.text.endswith("\n2501")


async def test_the_byte_limit_ends_the_range_between_lines(tools: Tools, cwd: Path) -> None:
    (cwd / "wide.txt").write_text("".join(f"{number:04} {'é' * 95}\n" for number in range(1000)))
    answer = await tools.read("wide.txt")
    body, notice = answer.text.split("\n\n[")
    assert len(body.encode()) <= MAX_BYTES
    shown = body.count("\n") + 1
    assert f"Showing lines 1-{shown} of 1000 (50.0KB limit). Use offset={shown + 1} to continue." in notice
    assert (await tools.read("wide.txt", offset=shown + 1, limit=1)).text.startswith(f"{shown:04} ")


@pytest.mark.parametrize(("part", "count"), [("var a=1;", 250_000), ("你", 700_000), ("💩", 500_000)])
@pytest.mark.parametrize("more", [{}, {"offset": 1, "limit": 1}])
async def test_one_very_long_line_is_cut_between_characters_with_the_way_to_see_more(
    tools: Tools, cwd: Path, part: str, count: int, more: dict
) -> None:
    text = part * count
    (cwd / "min.js").write_text(text)
    answer = await tools.read("min.js", **more)
    assert answer.text.startswith(text[:2000] + "…")
    assert "\ufffd" not in answer.text
    assert "Line 1 is cut" in answer.text
    assert "cut -c 2001-" in answer.text
    assert len(answer.text.encode()) <= MAX_BYTES + 1024


async def test_a_line_of_just_the_longest_length_is_not_cut(tools: Tools, cwd: Path) -> None:
    (cwd / "edge.txt").write_text("é" * 2000 + "\nnext\n")
    assert (await tools.read("edge.txt")).text == "é" * 2000 + "\nnext"


async def test_a_far_range_of_a_huge_file_is_read_without_loading_the_file(tools: Tools, cwd: Path) -> None:
    path = cwd / "huge.txt"
    with path.open("wb") as file:
        for start in range(0, 2_000_000, 100_000):
            file.write(b"".join(b"%08d %s\n" % (number, b"x" * 90) for number in range(start, start + 100_000)))
    await tools.read("huge.txt", limit=1)
    assert await memory(lambda: tools.read("huge.txt", offset=1_000_001, limit=2)) < 20 << 20
    answer = await tools.read("huge.txt", offset=1_000_001, limit=2)
    assert answer.text.startswith("01000000 x")
    assert "many more follow" in answer.text
    assert answer.details.total_lines is None
    answer = await tools.read("huge.txt", offset=1_999_999)
    assert answer.details.total_lines == 2_000_000


@pytest.mark.parametrize("separator", ["\r\n", "\r"])
async def test_line_ends_of_other_systems_are_shown_as_lf(tools: Tools, cwd: Path, separator: str) -> None:
    (cwd / "w.txt").write_bytes(separator.join(["one", "two", "three", ""]).encode())
    answer = await tools.read("w.txt")
    assert answer.text == "one\ntwo\nthree"
    assert answer.details.total_lines == 3
    assert (await tools.read("w.txt", offset=2, limit=1)).text.startswith("two\n")


@pytest.mark.parametrize(
    ("encoding", "bom"),
    [
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
        ("utf-32-be", codecs.BOM_UTF32_BE),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
    ],
)
async def test_a_bom_or_the_pattern_of_nul_bytes_decides_the_encoding(
    tools: Tools, cwd: Path, encoding: str, bom: bytes
) -> None:
    (cwd / "t.txt").write_bytes(bom + "alpha\r\nbéta €\r\n".encode(encoding))
    answer = await tools.read("t.txt")
    assert answer.text.startswith("alpha\nbéta €\n\n[")
    assert "\0" not in answer.text and "\ufeff" not in answer.text
    assert answer.details.encoding == encoding


async def test_the_utf16_input(tools: Tools) -> None:
    answer = await tools.read(INPUTS / "utf16le_bom.txt")
    assert answer.text.startswith("alpha\nbéta\n")
    assert "UTF-16-LE with BOM" in answer.text


async def test_a_long_utf16_file_is_read_by_ranges(tools: Tools, cwd: Path) -> None:
    (cwd / "t.txt").write_bytes("".join(f"línea {number}\r\n" for number in range(1, 60_001)).encode("utf-16"))
    answer = await tools.read("t.txt", offset=59_999)
    assert answer.text.startswith("línea 59999\nlínea 60000\n")
    assert answer.details.total_lines == 60_000


async def test_legacy_text_is_read_and_said_not_to_be_utf8(tools: Tools) -> None:
    answer = await tools.read(INPUTS / "latin1.txt")
    assert answer.text.startswith("café\n")
    assert "not UTF-8" in answer.text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Straße, naïve, coût: 5 €, “quoted”"),
        ("gb18030", "编码检测需要足够长的文本才能可靠地工作，否则只能猜测。"),
        ("shift_jis", "日本語の文章を読み込むときは、文字コードを推測する必要があります。"),
        ("cp1251", "Кодировка определяется по нескольким строкам русского текста, не по одной."),
        ("euc_kr", "한국어 문장의 인코딩을 추측하려면 충분한 길이의 텍스트가 필요합니다."),
    ],
)
def test_encodings_are_guessed_from_enough_text(encoding: str, text: str) -> None:
    sample = f"{text}\n".encode(encoding) * 3
    assert sample.decode(guess_encoding(sample)) == sample.decode(encoding)


async def test_a_legacy_character_far_down_is_found_when_its_lines_are_read(tools: Tools, cwd: Path) -> None:
    (cwd / "late.txt").write_bytes(b"plain\n" * 30_000 + b"caf\xe9\n")
    assert (await tools.read("late.txt", limit=1)).details.encoding == "utf-8"
    answer = await tools.read("late.txt", offset=30_001)
    assert answer.text.startswith("café\n")
    assert "not UTF-8" in answer.text


async def test_utf8_with_a_few_damaged_bytes_stays_utf8(tools: Tools, cwd: Path) -> None:
    (cwd / "damaged.txt").write_bytes("é è ê ü\n".encode() * 5 + b"bad \xff byte\n")
    answer = await tools.read("damaged.txt")
    assert "é è ê ü\nbad \ufffd byte" in answer.text
    assert answer.details.encoding == "utf-8"
    assert "shown as \ufffd" in answer.text


@pytest.mark.parametrize("count", [8_191, 65_535, 65_536, 262_143])
async def test_a_character_on_the_border_of_a_block_is_whole(tools: Tools, cwd: Path, count: int) -> None:
    (cwd / "border.txt").write_text("".join("x" * 63 + "\n" for _ in range(count // 64)) + "x" * (count % 64) + "你\n")
    answer = await tools.read("border.txt", offset=count // 64 + 1)
    assert answer.text.split("\n\n[")[0] == "x" * (count % 64) + "你"
    assert answer.details.encoding == "utf-8"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x7fELF\x02\x01\x01\0\0", "an ELF program"),
        (b"PK\x03\x04\x14\0\0\0", "a zip archive"),
        (b"%PDF-1.7\n\0\1\2", "a PDF document"),
        (b"some\0thing\n" * 10, "a binary file"),
        (bytes(range(253, 100, -1)) + b"\0" * 4, "a binary file"),
    ],
    ids=["elf", "zip", "pdf", "nul", "noise"],
)
async def test_binary_files_are_named_and_not_shown(tools: Tools, cwd: Path, content: bytes, said: str) -> None:
    (cwd / "b.bin").write_bytes(content)
    answer = await tools.read("b.bin")
    assert answer.is_error
    assert said in answer.text
    assert "use bash" in answer.text


async def test_a_nul_far_down_does_not_reach_the_model(tools: Tools, cwd: Path) -> None:
    (cwd / "late.txt").write_bytes(b"plain\n" * 20_000 + b"a\0b\n")
    answer = await tools.read("late.txt", offset=20_001)
    assert answer.text.startswith("a\ufffdb\n")


async def test_what_is_no_regular_file_is_told_at_once(tools: Tools, cwd: Path) -> None:
    os.mkfifo(cwd / "pipe1")
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(os.path.relpath(cwd / "sock1"))
    for path, said in (
        ("pipe1", "FIFO"),
        ("sock1", "socket"),
        ("/dev/zero", "device"),
        ("/dev/stdin", "regular file"),
        ("/dev/fd/0", "regular file"),
        ("/proc/self/fd/0", "regular file"),
    ):
        answers = []

        async def read(path: str = path, answers: list = answers) -> None:
            answers.append(await tools.read(path))

        assert await memory(read) < 1 << 20
        assert answers[0].is_error
        assert said in answers[0].text
    bound.close()


async def test_a_file_without_a_size_that_is_told_is_read_all_the_same(tools: Tools) -> None:
    assert "MemTotal" in (await tools.read("/proc/meminfo")).text


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/thread-self/environ", "/proc/{pid}/environ"])
async def test_the_keys_in_the_environment_of_agentcli_cannot_be_read(tools: Tools, cwd: Path, path: str) -> None:
    path = path.format(pid=os.getpid())
    assert (await tools.read(path)).is_error
    (cwd / "innocent").symlink_to(path)
    assert (await tools.read("innocent")).is_error


async def test_a_file_that_may_not_be_read_is_an_error_in_one_line(tools: Tools, cwd: Path) -> None:
    answer = await tools.read("/proc/self/mem")
    assert answer.is_error
    assert "\n" not in answer.text


async def test_a_cancelled_read_ends_at_once(tools: Tools, cwd: Path) -> None:
    with (cwd / "sparse.txt").open("wb") as file:
        file.truncate(200 << 30)
        file.write(b"text\n" * 20_000)
    call = asyncio.create_task(tools.read("sparse.txt", offset=1_000_000))
    await asyncio.sleep(0.2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_an_aborted_read_stops_reading(tools: Tools, cwd: Path) -> None:
    with (cwd / "sparse.txt").open("wb") as file:
        file.truncate(200 << 30)
        file.write(b"text\n" * 20_000)
    controller = AbortController()
    asyncio.get_running_loop().call_later(0.2, controller.abort)
    answer = await tools("read", {"path": "sparse.txt", "offset": 1_000_000}, signal=controller.signal)
    assert answer.is_error
    assert "aborted" in answer.text


LINES = st.lists(
    st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=("Cs",)), max_size=12), max_size=40
)


@given(LINES, st.booleans(), st.sampled_from(["\n", "\r\n"]), st.integers(1, 45), st.integers(1, 45))
def test_any_range_is_just_those_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ends: bool, separator: str, first: int, count: int
) -> None:
    folder = tmp_path_factory.mktemp("ranges")
    text = separator.join(lines) + (separator if ends and lines else "")
    (folder / "t.txt").write_bytes(text.encode())
    split = text.replace("\r\n", "\n").split("\n")
    wanted = (split[:-1] if split[-1] == "" else split)[first - 1 :][:count]
    if not wanted or text.startswith("\ufeff"):
        return
    with FilePlace(folder / "t.txt") as place:
        arguments = ReadToolInput("t.txt", first, count)
        result = read_file(place, arguments, ToolOptions(cwd=folder), ReadTracker(), lambda: False)
    shown = result.content[0].text.split("\n\n[")[0] if "\n\n[" not in text else result.content[0].text
    assert shown.startswith("\n".join(wanted))
    assert result.details.last_line == first + len(wanted) - 1


async def test_a_path_of_thousands_of_folders_is_told_to_be_none(tools: Tools) -> None:
    for name in ("a/" * 5_000 + "x", "../" * 5_000 + "nowhere/x"):
        answer = await tools.read(name)
        assert answer.is_error
        assert "does not exist" in answer.text or "too long" in answer.text
