"""A whole frontend over the model: it follows a session, and asks the user."""

import time
from collections.abc import Callable

from agentcli.config.settings import PermissionMode
from agentcli.runtime.runtime import Runtime
from agentcli.transcript.item_list import Change, ItemAdded, ItemChanged, ItemsReplaced, RequestsChanged, TextAppended
from agentcli.transcript.items import NoticeItem, ToolItem, UserItem
from agentcli.transcript.model import TranscriptModel, follow
from tests.agent.doubles import call, say
from tests.runtime.conftest import Make


class TextFrontend:
    """Prints a session as it runs: texts as they stream, and a line for each call."""

    def __init__(self, runtime: Runtime, write: Callable[[str], None], allow: Callable[[str], bool]) -> None:
        self.runtime, self.write, self.allow = runtime, write, allow
        self.model = TranscriptModel(self.show)
        follow(runtime, lambda event: self.model.apply(event, time.monotonic()))
        self.model.open(runtime.agent.state.messages)

    def show(self, change: Change) -> None:
        match change:
            case TextAppended(delta=delta):
                self.write(delta)
            case ItemsReplaced(items):
                for item in items:
                    self.show(ItemAdded(item))
            case ItemAdded(UserItem(text=text)):
                self.write(f"\n> {text}\n")
            case ItemAdded(NoticeItem(text=text)):
                self.write(f"\n! {text}\n")
            case ItemChanged(ToolItem() as call) if call.is_over:
                self.write(f"\n* {call.name}: {call.state}: {call.text}\n")
            case RequestsChanged():
                for request in self.model.requests:
                    self.model.end_request(request.id)
                    verdict = "allow" if self.allow(request.about) else "deny"
                    self.runtime.answer_permission(request.id, verdict)
            case _:
                pass


async def test_a_session_is_shown_as_it_runs(make: Make):
    answers = [say("I look.", chunk=3), call("bash", "1", command="echo a; touch b")], [say("It is a.", chunk=2)]
    runtime = make(*answers, permission_mode=PermissionMode.ASK, answers_permissions=True)
    written: list[str] = []
    asked: list[str] = []
    frontend = TextFrontend(runtime, written.append, lambda about: not asked.append(about))
    await runtime.prompt("what is it?")
    assert asked and "touch" in asked[0] and frontend.model.requests == []
    text = "".join(written)
    assert text.replace("\n\n", "\n").splitlines()[1:3] == ["> what is it?", "I look."]
    assert "* bash: done: a" in text and text.endswith("It is a.") and "I l" in written
