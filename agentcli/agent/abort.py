"""Abort: one signal that a run, its model stream, its tools and its hooks all see.

`AbortController` is for whoever may stop the work, `AbortSignal` for whoever has to stop. Both belong to the thread of
the event loop.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType


class Aborted(Exception):
    """Raised by `interruptible` in place of the result that will not come."""


class AbortSignal:
    """Says whether the work was aborted, and calls back when it is."""

    __slots__ = ("_callbacks", "aborted", "reason")

    def __init__(self) -> None:
        self.aborted: bool = False
        self.reason: str = ""
        self._callbacks: dict[object, Callable[[], None]] = {}

    @property
    def has_listeners(self) -> bool:
        """Whether anybody has asked to be called back."""
        return bool(self._callbacks)

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` once when the work is aborted, at once if it already was. Returns what takes it back."""
        if self.aborted:
            callback()
            return lambda: None
        key = object()
        self._callbacks[key] = callback

        def remove() -> None:
            self._callbacks.pop(key, None)

        return remove

    async def wait(self) -> None:
        """Return when the work is aborted."""
        if self.aborted:
            return
        woken = asyncio.get_running_loop().create_future()
        remove = self.on_abort(lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            remove()

    def fire(self, reason: str = "") -> None:
        """What `AbortController.abort` does; a second call does nothing."""
        if self.aborted:
            return
        self.aborted = True
        self.reason = reason
        callbacks = list(self._callbacks.values())
        self._callbacks.clear()
        for callback in callbacks:
            callback()


class AbortController:
    """The handle that aborts."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal: AbortSignal = AbortSignal()

    def abort(self, reason: str = "aborted by the user") -> None:
        self.signal.fire(reason)


class interruptible:
    """`with interruptible(signal): await something` raises `Aborted` as soon as the signal fires, whatever is awaited.

    Like `asyncio.timeout`: the waiting task is cancelled, and that one cancellation is taken back here. It may be
    entered again. An abort that the awaited code makes itself is not an interruption: look at `signal.aborted` after.
    """

    __slots__ = ("_cancelling", "_fired", "_remove", "_signal", "_task")

    def __init__(self, signal: AbortSignal) -> None:
        self._signal = signal
        self._fired = False

    def __enter__(self) -> None:
        if self._signal.aborted:
            raise Aborted
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("interruptible() works inside a task only")
        self._task = task
        self._cancelling = task.cancelling()
        self._remove = self._signal.on_abort(self._fire)

    def _fire(self) -> None:
        if asyncio.current_task() is not self._task:
            self._fired = True
            self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._remove()
        if self._fired:
            self._fired = False
            if self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
                raise Aborted from None
