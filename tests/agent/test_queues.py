"""Queues: what waits can be seen, edited, moved, removed and taken back."""

import pytest

from agentcli.agent.messages import user_message
from agentcli.agent.queues import PendingMessageQueue, QueueMode

A, B, C = (user_message(text) for text in "abc")


def filled(mode: QueueMode = QueueMode.ONE_AT_A_TIME) -> tuple[PendingMessageQueue, list[str]]:
    queue = PendingMessageQueue(mode)
    return queue, [queue.enqueue(message) for message in (A, B, C)]


def waiting(queue: PendingMessageQueue) -> list[object]:
    return [item.message for item in queue.items]


def test_one_at_a_time_drains_the_oldest():
    queue, _ = filled()
    assert (queue.drain(), waiting(queue)) == ([A], [B, C])


def test_all_drains_everything():
    queue, _ = filled(QueueMode.ALL)
    assert (queue.drain(), waiting(queue), queue.drain()) == ([A, B, C], [], [])


def test_a_message_can_be_edited_where_it_is():
    queue, ids = filled()
    queue.edit(ids[1], A)
    assert waiting(queue) == [A, A, C]
    assert queue.items[1].id == ids[1]


@pytest.mark.parametrize(("position", "expected"), [(0, [C, A, B]), (1, [A, C, B]), (99, [A, B, C]), (-5, [C, A, B])])
def test_a_message_can_be_moved(position: int, expected: list[object]):
    queue, ids = filled()
    queue.move(ids[2], position)
    assert waiting(queue) == expected


def test_a_message_can_be_removed_and_all_taken_back():
    queue, ids = filled()
    assert queue.remove(ids[1]) == B
    assert queue.clear() == [A, C]
    assert len(queue) == 0


def test_what_no_longer_waits_cannot_be_changed():
    queue, ids = filled()
    queue.drain()
    for change in (lambda: queue.edit(ids[0], B), lambda: queue.move(ids[0], 1), lambda: queue.remove(ids[0])):
        with pytest.raises(KeyError):
            change()
    assert waiting(queue) == [B, C]


def test_every_change_is_told_and_nothing_else():
    changes: list[int] = []
    queue = PendingMessageQueue(on_change=lambda: changes.append(len(queue)))
    id = queue.enqueue(A)
    queue.edit(id, B)
    queue.move(id, 0)
    queue.drain()
    queue.drain()
    queue.clear()
    assert changes == [1, 1, 1, 0]
