"""What the user sees of a run."""

from pathlib import Path

import pytest

from agentcli.config.settings import RetrySettings
from agentcli.transcript.items import CallState, ToolItem
from tests.tui.conftest import MakeApp
from tests.tui.drive import idle, ready, screen, send, transcript, until


async def test_a_prompt_and_its_answer_are_shown(make_app: MakeApp) -> None:
    async with make_app([{"text": "## Yes\n\n- one\n- **two**"}]).run_test(size=(80, 24)) as pilot:
        app = await ready(pilot)
        await send(pilot, "is it so?")
        await idle(pilot)
        shown = screen(pilot)
        for part in ("❯ is it so?", "## Yes", "• one", "• two"):
            assert part in shown
        assert app.editor.text == ""


async def test_text_is_shown_while_it_streams(make_app: MakeApp) -> None:
    text = "one two three four five six seven eight nine ten"
    async with make_app([{"text": text, "chunk": 2, "delay": 0.05}]).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "count")
        await until(pilot, lambda: "one two" in screen(pilot))
        assert "ten" not in screen(pilot)
        await idle(pilot)
        assert text in screen(pilot)


async def test_thinking_is_one_row(make_app: MakeApp) -> None:
    answer = [{"thinking": "first I look\nthen I think\nand decide", "chunk": 3}, {"text": "decided"}]
    async with make_app(answer).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "decide")
        await idle(pilot)
        assert "thought: first I look (+2 lines)" in screen(pilot)
        assert "then I think" not in screen(pilot)


async def test_a_command_shows_its_output_while_it_runs_and_then_its_end(make_app: MakeApp) -> None:
    command = "echo started; sleep 1.5; for i in $(seq 20); do echo line $i; done"
    call = [{"tool": "bash", "arguments": {"command": command}}]
    async with make_app(call, [{"text": "ran"}]).run_test(size=(80, 30)) as pilot:
        app = await ready(pilot)
        await send(pilot, "run it")
        await until(pilot, lambda: "│ started" in screen(pilot))
        assert "● bash" in screen(pilot)
        await until(pilot, lambda: "running bash" in screen(pilot))
        await idle(pilot)
        shown = screen(pilot)
        assert "✓ bash" in shown and "line 20" in shown and "earlier lines" in shown and "line 5\n" not in shown
        panel = next(item for item in app.controller.transcript.items if isinstance(item, ToolItem))
        assert panel.seconds is not None and panel.seconds >= 1.5


async def test_files_show_their_path_range_and_changes(make_app: MakeApp, work: Path) -> None:
    (work / "a.txt").write_text("one\ntwo\nthree\n")
    calls = [
        {"tool": "read", "arguments": {"path": "a.txt", "offset": 2, "limit": 1}},
        {"tool": "edit", "arguments": {"path": "a.txt", "edits": [{"old_text": "two", "new_text": "2"}]}},
        {"tool": "write", "arguments": {"path": "b.txt", "content": "new"}},
    ]
    async with make_app(calls, [{"text": "done"}]).run_test(size=(80, 40)) as pilot:
        await ready(pilot)
        await send(pilot, "change it")
        await idle(pilot)
        shown = screen(pilot)
        assert "✓ read a.txt:2-2" in shown
        assert "✓ edit a.txt" in shown and "-2 two" in shown and "+2 2" in shown
        assert "✓ write b.txt" in shown


async def test_an_unknown_tool_shows_its_arguments_and_the_error(make_app: MakeApp) -> None:
    call = [{"tool": "teleport", "arguments": {"where": "home", "list": [1, 2]}}]
    async with make_app(call, [{"text": "no"}]).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "go")
        await idle(pilot)
        shown = screen(pilot)
        assert "✗ teleport" in shown and "where: home" in shown and "list: [1, 2]" in shown
        assert "no tool named" in shown


async def test_calls_of_one_message_have_their_own_state_and_result(make_app: MakeApp) -> None:
    calls = [
        {"tool": "bash", "arguments": {"command": "echo A"}, "id": "1"},
        {"tool": "bash", "arguments": {"command": "echo B; exit 3"}, "id": "2"},
        {"tool": "bash", "arguments": {"command": "sleep 1; echo C"}, "id": "3"},
    ]
    async with make_app(calls, [{"text": "done"}]).run_test(size=(80, 40)) as pilot:
        app = await ready(pilot)
        await send(pilot, "all")
        panels: list[ToolItem] = []

        def states() -> list[CallState]:
            panels[:] = [item for item in app.controller.transcript.items if isinstance(item, ToolItem)]
            return [panel.state for panel in panels]

        await until(pilot, lambda: states() == [CallState.DONE, CallState.FAILED, CallState.RUNNING])
        await idle(pilot)
        assert states() == [CallState.DONE, CallState.FAILED, CallState.DONE]
        assert [panel.text.split()[0] for panel in panels] == ["A", "B", "C"]


async def test_a_failure_says_what_to_do(make_app: MakeApp) -> None:
    async with make_app([{"text": "half"}, {"error": "quota", "text": "no credit left"}]).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "hi")
        await idle(pilot)
        shown = screen(pilot)
        assert "half" in shown and "✗ no credit left" in shown and "top up the account" in shown and "/model" in shown


@pytest.mark.parametrize("answer", [[], [{"text": " \n"}], [{"thinking": "hm"}]])
async def test_an_empty_answer_is_said_to_be_one(answer: list[dict[str, str]], make_app: MakeApp) -> None:
    async with make_app(answer).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "hi")
        await idle(pilot)
        assert "✗ the model gave an empty answer" in screen(pilot)


async def test_a_retry_counts_down_and_then_says_that_it_happened(make_app: MakeApp) -> None:
    answers = ([{"error": "overloaded", "text": "busy"}], [{"text": "back again"}])
    async with make_app(*answers, retry=RetrySettings(base_delay=1.2)).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "hi")
        await until(pilot, lambda: "trying again in 1 s (1 of 3; Esc stops)" in screen(pilot))
        await idle(pilot)
        shown = screen(pilot)
        assert "tried again (1 of 3) after: busy" in shown and "back again" in shown


async def test_a_resumed_session_shows_its_history(make_app: MakeApp) -> None:
    call = [{"thinking": "hm"}, {"tool": "bash", "arguments": {"command": "echo from before"}}]
    async with make_app(call, [{"text": "all of it"}]).run_test() as pilot:
        await ready(pilot)
        await send(pilot, "remember")
        await idle(pilot)
        before = transcript(pilot.app)  # type: ignore[arg-type]
    async with make_app([{"text": "x"}], continue_=True).run_test() as pilot:
        app = await ready(pilot)
        await until(pilot, lambda: "all of it" in screen(pilot))
        after = transcript(app)
        assert "❯ remember" in after and "thought: hm" in after and "from before" in after
        assert len(after.splitlines()) == len(before.splitlines())


async def test_tokens_and_model_are_in_the_footer(make_app: MakeApp) -> None:
    async with make_app([{"text": "a", "usage": {"input": 1500, "output": 7}}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "hi")
        await idle(pilot)
        assert "↑1.5k ↓7" in screen(pilot) and "scripted/" in app.footer.status.model


async def test_a_notice_of_the_runtime_is_shown(make_app: MakeApp) -> None:
    async with make_app([{"text": "a"}], warnings=["config.toml:3: unknown key [b]colour[/]"]).run_test() as pilot:
        await ready(pilot)
        await until(pilot, lambda: "ℹ config.toml:3: unknown key [b]colour[/]" in screen(pilot))


async def test_every_theme_can_be_used(make_app: MakeApp) -> None:
    async with make_app([{"text": "# Title\n\n```python\nreturn 1\n```"}]).run_test() as pilot:
        app = await ready(pilot)
        await send(pilot, "hi")
        await idle(pilot)
        seen: set[object] = set()
        for name in app.available_themes:
            app.theme = name
            await pilot.pause()
            await until(pilot, lambda: "# Title" in screen(pilot))
            seen.add(next(iter(app.transcript.render_line(0))).style)
        assert len(seen) > 5
