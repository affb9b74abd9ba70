"""File tools in a runtime: calls in their order, only on what was judged, and no write over what was not read."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.messages import ToolResultMessage, text_of
from agentcli.config.settings import PermissionMode, PermissionSettings, Settings
from agentcli.runtime.events import PermissionRequestEvent
from agentcli.runtime.session_choice import SessionChoice
from tests.agent.doubles import call, say
from tests.runtime.conftest import Make


def results(runtime: Any) -> list[str]:
    return [text_of(each.content) for each in runtime.agent.state.messages if isinstance(each, ToolResultMessage)]


def edit(id: str, path: str, old: str, new: str) -> Any:
    return call("edit", id, path=path, edits=[{"old_text": old, "new_text": new}])


async def test_reads_commands_and_edits_of_one_message_see_each_other_in_their_order(make: Make):
    message = [
        call("read", "r1", path="a.txt"),
        edit("e1", "a.txt", "one", "two"),
        call("bash", "b1", command="sed -i s/two/three/ a.txt"),
        call("read", "r2", path="a.txt"),
        edit("e2", "a.txt", "three", "four"),
        call("bash", "b2", command="cat a.txt"),
        call("write", "w1", path="b.txt", content="new\n"),
        call("read", "r3", path="b.txt"),
    ]
    runtime = make(message, [say("ok")])
    (runtime.cwd / "a.txt").write_text("one\n")
    await runtime.prompt("go")
    told = results(runtime)
    assert [told[index].strip() for index in (0, 3, 5, 7)] == ["one", "three", "four", "new"]
    assert (runtime.cwd / "a.txt").read_text() == "four\n"


@pytest.mark.parametrize("tool", ["read", "write", "edit"])
async def test_a_link_that_takes_the_place_of_a_file_while_the_user_is_asked_leads_nowhere(
    make: Make, tmp_path: Path, tool: str
):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("secret\n")
    more = {"write": {"content": "x"}, "edit": {"edits": [{"old_text": "secret", "new_text": "x"}]}}.get(tool, {})
    settings = Settings(permissions=PermissionSettings(ask=[tool]))
    runtime = make(
        [call("read", "r", path="sub/a.txt")], [call(tool, "a", path="sub/a.txt", **more)], [say("ok")],
        settings=settings, answers_permissions=True,
    )  # fmt: skip
    (runtime.cwd / "sub").mkdir()
    (runtime.cwd / "sub/a.txt").write_text("ours\n")

    def swap_and_allow(event: object, signal: object) -> None:
        if isinstance(event, PermissionRequestEvent):
            if event.tool_call_id == "a":
                (runtime.cwd / "sub").rename(runtime.cwd / "was")
                (runtime.cwd / "sub").symlink_to(outside)
            asyncio.get_running_loop().call_soon(runtime.answer_permission, event.id, "allow", "once", None)

    runtime.subscribe(swap_and_allow)
    await runtime.prompt("go")
    assert "leads elsewhere now" in results(runtime)[-1]
    assert "secret" not in results(runtime)[-1]
    assert (outside / "a.txt").read_text() == "secret\n"
    assert [path.name for path in outside.iterdir()] == ["a.txt"]


async def test_a_command_that_puts_a_link_in_the_way_of_a_later_call_of_its_message_does_not_get_around_a_rule(
    make: Make, tmp_path: Path
):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/key").write_text("secret\n")
    settings = Settings(permissions=PermissionSettings(deny=[f"read({tmp_path}/secrets/**)"]))
    message = [
        call("bash", "b", command=f'D={tmp_path}/secr; ln -s "$D"ets sub'),
        call("read", "r", path="sub/key"),
        call("read", "ok", path="a.txt"),
    ]
    runtime = make(message, [say("ok")], settings=settings, permission_mode=PermissionMode.AUTO)
    (runtime.cwd / "a.txt").write_text("ours\n")
    await runtime.prompt("go")
    assert "secret\n" not in "".join(results(runtime))
    assert results(runtime)[2].strip() == "ours"


async def test_a_file_that_an_earlier_call_makes_is_judged_by_the_name_it_will_have(make: Make):
    message = [
        call("write", "w", path="@new/a.txt", content="one\n"),
        call("read", "r", path="@new/a.txt"),
        edit("e", '"new/a.txt"', "one", "two"),
    ]
    settings = Settings(permissions=PermissionSettings(ask=["bash"]))
    runtime = make(message, [say("ok")], settings=settings)
    await runtime.prompt("go")
    assert results(runtime)[1].strip() == "one"
    assert (runtime.cwd / "new/a.txt").read_text() == "two\n"


async def test_a_file_that_was_read_before_a_resume_may_be_written_unless_it_has_changed(make: Make):
    first = make(
        [
            call("read", "a", path="same.txt"),
            call("read", "b", path="changed.txt"),
            call("write", "c", path="made.txt", content="one\n"),
        ],
        [say("ok")],
    )
    cwd = first.cwd
    for name in ("same.txt", "changed.txt", "other.txt"):
        (cwd / name).write_text("one\n")
    await first.prompt("go")
    await first.close()
    (cwd / "changed.txt").write_text("from outside\n")
    later = time.time() + 5  # messages are timed in milliseconds, and some file systems less finely
    os.utime(cwd / "changed.txt", (later, later))
    names = ("same.txt", "changed.txt", "made.txt", "other.txt")
    second = make(
        [call("write", name, path=name, content="new\n") for name in names], [say("ok")],
        session=SessionChoice(cwd=cwd, continue_=True),
    )  # fmt: skip
    await second.prompt("again")
    assert [(cwd / name).read_text() for name in names] == ["new\n", "from outside\n", "new\n", "one\n"]
    assert "changed on disk" in results(second)[-3]
    assert "read it first" in results(second)[-1]


async def test_a_file_that_the_user_attached_may_be_written(make: Make):
    runtime = make([call("write", "a", path="a.txt", content="new\n")], [say("ok")])
    (runtime.cwd / "a.txt").write_text("one\n")
    await runtime.prompt(runtime.attachments.build_prompt(["@a.txt", "rewrite it"]))
    assert (runtime.cwd / "a.txt").read_text() == "new\n"
