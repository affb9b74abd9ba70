"""What waits for the agent can be taken back, moved, and sent at another time."""

from agentcli.agent.messages import CustomMessage, user_message
from agentcli.transcript.queue import QueuedKind, QueueEditor
from tests.agent.doubles import agent, scripted


def waiting(editor: QueueEditor) -> list[str]:
    return [f"{each.kind} {each.text}" for each in editor.waiting]


def queues() -> QueueEditor:
    listened = agent(scripted())
    for text in ("a", "b"):
        listened.steer(user_message(text))
        listened.follow_up(user_message(text.upper()))
    return QueueEditor(listened)


def test_both_queues_are_one_list():
    editor = queues()
    assert waiting(editor) == ["steer a", "steer b", "follow-up A", "follow-up B"]
    ids = [each.id for each in editor.waiting]
    assert editor.place_of(ids[3]) == (QueuedKind.FOLLOW_UP, 1)
    editor.move(ids[1], 0)
    editor.switch_kind(ids[0])
    assert waiting(editor) == ["steer b", "follow-up A", "follow-up B", "follow-up a"]
    assert editor.take_back(ids[1]) is not None
    assert editor.take_all_back() == ["A", "B", "a"] and waiting(editor) == []


def test_what_was_sent_meanwhile_is_left_alone():
    editor = queues()
    first = editor.waiting[0].id
    editor.of_kind(QueuedKind.STEER).drain()
    assert editor.place_of(first) is None and editor.take_back(first) is None
    editor.move(first, 1)
    editor.switch_kind(first)
    assert waiting(editor) == ["steer b", "follow-up A", "follow-up B"]


def test_a_message_of_an_extension_has_its_text():
    listened = agent(scripted())
    listened.steer(CustomMessage("note", "by the way"))
    assert waiting(QueueEditor(listened)) == ["steer by the way"]
