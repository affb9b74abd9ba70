"""Writing whole files: all or nothing, and nothing of the file lost but its text."""

import asyncio
import errno
import hashlib
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.errors import ToolError
from agentcli.tools.files.atomic_write import write_atomically
from agentcli.tools.files.file_place import FilePlace
from tests.growth.cost import memory
from tests.tools.conftest import Tools


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_new_file_is_made_with_its_folders_and_told_in_lines_and_bytes(tools: Tools, cwd: Path) -> None:
    answer = await tools.write("a/b/c.txt", "one\ntwo é\n")
    assert (cwd / "a/b/c.txt").read_bytes() == "one\ntwo é\n".encode()
    assert answer.text == "Created a/b/c.txt: 2 lines, 11 bytes."
    assert answer.details.created
    assert (await tools.write("a/b/c.txt", "x")).text == "Overwrote a/b/c.txt: 1 line, 1 byte."


@pytest.mark.parametrize("content", ["x", "x\n\n", "", "\n", "a\rb\n", "tab\tand \x0b\x0c\x1b[0m", "💩"])
async def test_the_bytes_of_a_new_file_are_those_that_were_asked_for(tools: Tools, cwd: Path, content: str) -> None:
    await tools.write("f.txt", content)
    assert (cwd / "f.txt").read_bytes() == content.encode()


async def test_a_bom_and_uniform_crlf_line_ends_are_kept_and_said_to_be(tools: Tools, cwd: Path) -> None:
    (cwd / "w.txt").write_bytes(b"\xef\xbb\xbfhello\r\nworld\r\n")
    answer = await tools.rewrite("w.txt", "new\ntext\n")
    assert (cwd / "w.txt").read_bytes() == b"\xef\xbb\xbfnew\r\ntext\r\n"
    assert "kept its BOM and CRLF line ends" in answer.text
    await tools.write("w.txt", "\ufeffagain\r\nand\n")
    assert (cwd / "w.txt").read_bytes() == b"\xef\xbb\xbfagain\r\nand\r\n"


async def test_mixed_line_ends_are_not_continued(tools: Tools, cwd: Path) -> None:
    (cwd / "m.txt").write_bytes(b"a\r\nb\nc\r\n")
    await tools.rewrite("m.txt", "x\ny\n")
    assert (cwd / "m.txt").read_bytes() == b"x\ny\n"


async def test_a_long_crlf_file_with_one_lf_at_its_end_is_mixed(tools: Tools, cwd: Path) -> None:
    (cwd / "m.txt").write_bytes(b"line\r\n" * 300_000 + b"last\n")
    await tools.rewrite("m.txt", "x\n")
    assert (cwd / "m.txt").read_bytes() == b"x\n"
    (cwd / "c.txt").write_bytes(b"line\r\n" * 300_000)
    await tools.rewrite("c.txt", "x\n")
    assert (cwd / "c.txt").read_bytes() == b"x\r\n"


async def test_a_utf16_file_stays_utf16(tools: Tools, cwd: Path) -> None:
    (cwd / "u.txt").write_bytes("old\r\n".encode("utf-16"))
    await tools.rewrite("u.txt", "new é\n")
    assert (cwd / "u.txt").read_bytes() == "new é\r\n".encode("utf-16")


async def test_half_a_character_is_an_error_and_nothing_is_made(tools: Tools, cwd: Path) -> None:
    answer = await tools.write("sub/s.txt", "a\ud83d")
    assert answer.is_error
    assert "U+D83D" in answer.text
    assert names(cwd) == []


@pytest.mark.parametrize("tool", ["write", "edit"])
async def test_links_are_written_through_and_modes_are_kept(tools: Tools, cwd: Path, tool: str) -> None:
    (cwd / "real").mkdir()
    (cwd / "sub").mkdir()
    (cwd / "real/zshrc").write_text("old text\n")
    (cwd / "real/zshrc").chmod(0o600)
    (cwd / "run.sh").write_text("old text\n")
    (cwd / "run.sh").chmod(0o755)
    (cwd / "zshrc").symlink_to("real/zshrc")
    (cwd / "sub/link2").symlink_to("../zshrc")

    async def change(name: str, old: str, new: str) -> None:
        answer = await (tools.rewrite(name, f"{new} text\n") if tool == "write" else tools.edit(name, (old, new)))
        assert not answer.is_error

    await change("zshrc", "old", "new")
    assert (cwd / "real/zshrc").read_text() == "new text\n"
    await change("sub/link2", "new", "newer")
    await change("run.sh", "old", "new")
    assert (cwd / "real/zshrc").read_text() == "newer text\n"
    assert (cwd / "zshrc").is_symlink() and (cwd / "sub/link2").is_symlink()
    assert stat.S_IMODE((cwd / "real/zshrc").stat().st_mode) == 0o600
    assert stat.S_IMODE((cwd / "run.sh").stat().st_mode) == 0o755
    assert names(cwd) == ["real", "run.sh", "sub", "zshrc"]
    assert names(cwd / "real") == ["zshrc"]


async def test_writing_through_a_dangling_link_makes_what_it_leads_to(tools: Tools, cwd: Path) -> None:
    (cwd / "new").symlink_to("real/made-later")
    answer = await tools.write("new", "made\n")
    assert not answer.is_error
    assert (cwd / "new").is_symlink()
    assert (cwd / "real/made-later").read_text() == "made\n"


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o000, 0o666)])
async def test_new_files_follow_the_umask(tools: Tools, cwd: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        await tools.write("n.txt", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((cwd / "n.txt").stat().st_mode) == mode


@pytest.mark.parametrize("tool", ["write", "edit"])
async def test_all_hard_links_of_a_file_see_the_change(tools: Tools, cwd: Path, tool: str) -> None:
    (cwd / "one").write_text("old text, somewhat longer\n")
    os.link(cwd / "one", cwd / "two")
    answer = await (
        tools.rewrite("one", "new\n") if tool == "write" else tools.edit("one", ("old text, somewhat longer", "new"))
    )
    assert not answer.is_error
    assert (cwd / "two").read_text() == "new\n"
    assert (cwd / "one").stat().st_nlink == 2


async def test_the_owner_is_kept_where_that_can_be_shown(tools: Tools, cwd: Path) -> None:
    path = cwd / "theirs"
    path.write_text("old")
    if os.getuid() == 0:
        os.chown(path, 12_345, 12_345)
    before = path.stat()
    await tools.rewrite("theirs", "new")
    after = path.stat()
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)


async def test_extended_attributes_are_kept(tools: Tools, cwd: Path) -> None:
    path = cwd / "tagged"
    path.write_text("old")
    os.setxattr(path, "user.tag", b"kept")
    await tools.rewrite("tagged", "new")
    assert os.getxattr(path, "user.tag") == b"kept"


@pytest.mark.parametrize("target", [".", "pipe", "/dev/null"])
async def test_what_is_no_regular_file_is_not_written(tools: Tools, cwd: Path, target: str) -> None:
    os.mkfifo(cwd / "pipe")
    answer = await tools.write(target, "x")
    assert answer.is_error
    assert "not a regular file" in answer.text


async def test_a_file_in_the_place_of_a_folder_is_an_error(tools: Tools, cwd: Path) -> None:
    (cwd / "file").write_text("x")
    answer = await tools.write("file/sub/new.txt", "x")
    assert answer.is_error
    assert "file" in answer.text
    assert (cwd / "file").read_text() == "x"


async def test_a_read_only_file_is_not_replaced(tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cwd / "locked").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode, **more: mode != os.W_OK)
    assert "read-only" in (await tools.rewrite("locked", "new")).text
    assert "read-only" in (await tools.edit("locked", ("old", "new"))).text
    assert (cwd / "locked").read_text() == "old"


class FakeFullDisk:
    """`os.write` that fails as a full disk does, after so many bytes."""

    def __init__(self, room: int, number: int = errno.ENOSPC) -> None:
        self.room = room
        self.number = number
        self.really_write = os.write

    def __call__(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.room <= 0:
            raise OSError(self.number, os.strerror(self.number))
        written = self.really_write(descriptor, data[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("links", [1, 2])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
async def test_a_disk_that_is_full_half_way_leaves_the_old_content(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch, links: int, number: int
) -> None:
    keep = cwd / "keep.txt"
    keep.write_bytes(b"keep this line\n" * 140)
    if links == 2:
        os.link(keep, cwd / "other.txt")
    await tools.read("keep.txt")
    before, files = hashlib.sha256(keep.read_bytes()).hexdigest(), names(cwd)
    with monkeypatch.context() as patch:
        disk = FakeFullDisk(4096, number)
        patch.setattr(os, "write", disk)
        answer = await tools.write("keep.txt", "x" * 1_000_000)
        assert answer.is_error
        assert errno.errorcode[number] in answer.text
        disk.room = 4096
        assert (await tools.edit("keep.txt", ("keep", "y" * 100_000), replace_all=True)).is_error
    assert hashlib.sha256(keep.read_bytes()).hexdigest() == before
    assert names(cwd) == files
    assert not (await tools.edit("keep.txt", ("keep this line\nkeep", "kept"), replace_all=True)).is_error


async def test_a_rename_that_fails_leaves_the_old_content_and_no_other_file(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cwd / "keep.txt").write_text("old")

    def fails(*arguments: Any, **more: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "replace", fails)
    assert (await tools.rewrite("keep.txt", "new")).is_error
    assert (cwd / "keep.txt").read_text() == "old"
    assert names(cwd) == ["keep.txt"]


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EPERM])
async def test_a_file_that_cannot_be_replaced_is_written_in_place(
    tools: Tools, cwd: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (cwd / "mounted").write_text("old, and longer than the new")

    def fails(*arguments: Any, **more: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fails)
    inode = (cwd / "mounted").stat().st_ino
    assert not (await tools.rewrite("mounted", "new")).is_error
    assert (cwd / "mounted").read_text() == "new"
    assert (cwd / "mounted").stat().st_ino == inode
    assert names(cwd) == ["mounted"]


LIMITED = """
    import asyncio, resource, sys
    from pathlib import Path
    from agentcli.agent.abort import AbortController
    from agentcli.tools.toolset import ToolOptions, create_toolset

    async def main():
        toolset = create_toolset(ToolOptions(cwd=Path(sys.argv[1])), ["write", "read"])
        await toolset.tools[1].execute("0", {"path": "keep.txt"}, AbortController().signal)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            await toolset.tools[0].execute("1", {"path": "keep.txt", "content": "x" * 100_000}, AbortController().signal)
        except Exception as error:
            print(error)

    asyncio.run(main())
"""


def test_the_limit_for_the_size_of_files_ends_neither_the_file_nor_the_process(cwd: Path) -> None:
    (cwd / "keep.txt").write_text("old")
    argv = [sys.executable, "-c", textwrap.dedent(LIMITED), str(cwd)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0
    assert "EFBIG" in done.stdout
    assert (cwd / "keep.txt").read_text() == "old"
    assert names(cwd) == ["keep.txt"]


def test_no_reader_ever_sees_a_part_of_the_new_content(cwd: Path) -> None:
    program = """
        import sys
        from pathlib import Path
        from agentcli.tools.files.atomic_write import write_atomically
        from agentcli.tools.files.file_place import FilePlace
        path = Path(sys.argv[1])
        for turn in range(300):
            with FilePlace(path) as place:
                write_atomically(place, [b"ab"[turn % 2 : turn % 2 + 1] * 300_000], place.status())
    """
    path = cwd / "f"
    path.write_bytes(b"a" * 300_000)
    writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), str(path)])
    while writer.poll() is None:
        seen = path.read_bytes()
        assert len(seen) == 300_000 and len(set(seen)) == 1
    assert writer.returncode == 0


def test_an_error_names_the_file_and_the_reason_in_one_line(cwd: Path) -> None:
    with pytest.raises(ToolError, match=r"no/such/folder/x was not written: No such file or directory") as caught:
        write_atomically(FilePlace(cwd / "no/such/folder/x"), [b""], None)
    assert "\n" not in str(caught.value)


async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(tools: Tools, cwd: Path) -> None:
    path = cwd / "shared.txt"
    path.write_text("first\n")
    await tools.read("shared.txt")
    path.write_text("changed by somebody else\n")
    answer = await tools.write("shared.txt", "mine\n")
    assert answer.is_error
    assert "changed on disk" in answer.text and "read it again" in answer.text
    assert path.read_text() == "changed by somebody else\n"
    await tools.read("shared.txt")
    assert not (await tools.write("shared.txt", "mine\n")).is_error
    assert path.read_text() == "mine\n"


async def test_a_change_made_by_a_command_counts_as_well(tools: Tools, cwd: Path) -> None:
    await tools.write("a.txt", "one\n")
    await tools.bash("echo two >> a.txt")
    assert (await tools.write("a.txt", "three\n")).is_error
    assert (cwd / "a.txt").read_text() == "one\ntwo\n"


async def test_what_the_tools_write_themselves_is_no_outside_change(tools: Tools, cwd: Path) -> None:
    await tools.write("a.txt", "one\n")
    await tools.edit("a.txt", ("one", "two"))
    assert not (await tools.write("a.txt", "three\n")).is_error


async def test_an_edit_does_not_make_an_outside_change_seen(tools: Tools, cwd: Path) -> None:
    (cwd / "a.txt").write_text("one\n")
    await tools.read("a.txt")
    (cwd / "a.txt").write_text("one\nfrom outside\n")
    answer = await tools.edit("a.txt", ("one", "two"))
    assert "had changed on disk" in answer.text
    assert (cwd / "a.txt").read_text() == "two\nfrom outside\n"
    assert (await tools.write("a.txt", "three\n")).is_error


async def test_a_file_that_was_never_read_is_not_overwritten_and_the_model_is_told_what_to_do(
    tools: Tools, cwd: Path
) -> None:
    (cwd / "a.txt").write_text("one\n")
    for name in ("a.txt", "./a.txt", str(cwd / "a.txt"), "@a.txt"):
        answer = await tools.write(name, "two\n")
        assert answer.is_error
        assert "exists" in answer.text and "read it first" in answer.text and "edit" in answer.text
    assert (cwd / "a.txt").read_text() == "one\n"
    await tools.read("a.txt", offset=1, limit=1)
    assert (await tools.write("a.txt", "two\n")).text.startswith("Overwrote")


async def test_a_file_made_by_a_command_or_found_by_a_search_has_not_been_read(tools: Tools, cwd: Path) -> None:
    await tools.bash("echo one > a.txt; cat a.txt")
    await tools("grep", {"pattern": "one"})
    assert (await tools.write("a.txt", "two\n")).is_error
    assert (cwd / "a.txt").read_text() == "one\n"


async def test_an_empty_file_and_one_that_the_model_made_or_edited_may_be_written(tools: Tools, cwd: Path) -> None:
    (cwd / "empty").touch()
    (cwd / "edited").write_text("one\n")
    await tools.edit("edited", ("one", "two"))
    await tools.write("made", "one\n")
    for name in ("empty", "edited", "made", "empty"):
        assert (await tools.write(name, "new\n")).text.startswith("Overwrote")


async def test_a_file_that_cannot_be_shown_as_text_may_be_written_when_the_model_was_told_so(
    tools: Tools, cwd: Path
) -> None:
    (cwd / "a.bin").write_bytes(bytes(range(32)) * 3)
    assert (await tools.write("a.bin", "x")).is_error
    assert "binary" in (await tools.read("a.bin")).text
    assert not (await tools.write("a.bin", "x")).is_error


async def test_what_the_conversation_tells_counts_as_read_unless_it_has_changed_since(tools: Tools, cwd: Path) -> None:
    for name in ("same", "changed", "other"):
        (cwd / name).write_text("one\n")
    (cwd / "link").symlink_to("same")
    now = (cwd / "other").stat().st_mtime_ns // 1_000_000
    tools.toolset.files.known.recall = lambda: [(str(cwd / "link"), now), (str(cwd / "changed"), now - 1000)]
    assert not (await tools.write("same", "two\n")).is_error
    assert "changed on disk" in (await tools.write("changed", "two\n")).text
    assert "have not read it" in (await tools.write("other", "two\n")).text
    assert "had changed on disk" in (await tools.edit("changed", ("one", "two"))).text
    assert (await tools.write("changed", "three\n")).is_error


async def test_a_file_that_is_gone_since_it_was_read_is_made_again(tools: Tools, cwd: Path) -> None:
    (cwd / "a.txt").write_text("one\n")
    await tools.read("a.txt")
    (cwd / "a.txt").unlink()
    assert (await tools.write("a.txt", "two\n")).text.startswith("Created")


async def test_a_file_seen_through_a_link_is_known_by_every_name(tools: Tools, cwd: Path) -> None:
    (cwd / "real.txt").write_text("one\n")
    (cwd / "link.txt").symlink_to("real.txt")
    await tools.read("link.txt")
    (cwd / "real.txt").write_text("from outside\n")
    assert (await tools.write("real.txt", "mine\n")).is_error


@pytest.mark.parametrize("name", ["file_path", "filePath", "file", "filename"])
async def test_other_names_for_the_path_are_taken(tools: Tools, cwd: Path, name: str) -> None:
    assert not (await tools("write", {name: "f.txt", "content": "x"})).is_error
    assert (await tools("read", {name: "f.txt"})).text == "x"
    answer = await tools("edit", {name: "f.txt", "edits": [{"old_text": "x", "new_text": "y"}]})
    assert not answer.is_error


async def test_memory_does_not_grow_with_files_written(tools: Tools) -> None:
    content = "x" * 4_000_000
    await tools.write("a.txt", content)

    async def write(times: int) -> None:
        for _ in range(times):
            await tools.write("a.txt", content)

    once = await memory(lambda: write(1))
    assert once > len(content)
    assert await memory(lambda: write(10)) < once + len(content) // 2
    await asyncio.sleep(0)
