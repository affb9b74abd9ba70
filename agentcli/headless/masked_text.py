"""MaskedText: a text that grows piece by piece, with every known key taken out before anybody sees it."""

from agentcli.config.masking import hold_back, mask


class MaskedText:
    """What may be the beginning of a key waits until it is known whether it is one."""

    def __init__(self) -> None:
        self._held = ""

    def add(self, delta: str) -> str:
        """What can be shown now of the text so far and its next piece; empty if all of it has to wait."""
        text = mask(self._held + delta)
        shown = len(text) - hold_back(text)
        self._held = text[shown:]
        return text[:shown]

    def end(self) -> str:
        """What had to wait: the text goes no further, so it was no key."""
        held, self._held = self._held, ""
        return held
