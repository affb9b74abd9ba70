"""Keymap: which key does what, and how keys are written."""

import unicodedata
from collections.abc import Mapping, Sequence

from agentcli.tui.commands.actions import KEY_ACTIONS, Action, Command, Where
from agentcli.tui.did_you_mean import did_you_mean

_MODIFIERS = ("ctrl", "alt", "shift", "super", "meta", "hyper")
_ALIASES = {
    "return": "enter",
    "esc": "escape",
    "del": "delete",
    "ins": "insert",
    "pgup": "pageup",
    "page_up": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "page_down": "pagedown",
    "bs": "backspace",
    "control": "ctrl",
    "option": "alt",
    "cmd": "super",
    "command": "super",
    "win": "super",
    "-": "minus",
    " ": "space",
}
_NAMED = {
    *("enter", "escape", "delete", "insert", "pageup", "pagedown", "home", "end", "backspace", "tab", "space"),
    *("up", "down", "left", "right", "minus", "plus"),
    *(f"f{number}" for number in range(1, 25)),
}
_SHOWN = {"pageup": "PageUp", "pagedown": "PageDown", "escape": "Esc", "underscore": "_", "minus": "-"}
_SHORT = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""Characters that Textual does not name by their Unicode names."""
_OVERLAPS = {
    Where.EDITOR: (Where.APP,),
    Where.APP: (Where.EDITOR,),
    Where.SESSIONS: (Where.LIST,),
    Where.TREE: (Where.LIST,),
}
"""Places whose keys are in effect at the same time: a key bound in one is unbound in the other."""


class Keymap:
    """The keys of each action.

    Args:
        changes: `[keys]` of the config: for the name of an action a key, or several; none at all unbinds it.
        actions: what has keys.
    """

    def __init__(
        self, changes: Mapping[str, str | Sequence[str]] = {}, actions: Sequence[Action] = KEY_ACTIONS
    ) -> None:
        self.actions = actions
        self._by_name = {action.name: action for action in actions}
        self.problems: list[str] = []
        """Changes that were not applied, a line each."""
        self._keys = {action.name: action.keys for action in actions}
        changed = self._read(changes)
        taken = {(where, key): name for name in changed for key in self._keys[name] for where in self._places(name)}
        for action in actions:
            if action.name not in changed:
                kept = (key for key in action.keys if taken.get((action.where, key), action.name) == action.name)
                self._keys[action.name] = tuple(kept)
        self._actions = {(each.where, key): each for each in actions for key in self._keys[each.name]}

    def action(self, key: str, *places: Where) -> Action | None:
        """The action of a key in the first of these places that has one; None if none has."""
        for where in places:
            if (action := self._actions.get((where, key))) is not None:
                return action
        return None

    @property
    def slash_commands(self) -> list[Command]:
        """The app's own `/commands`."""
        return [action for action in self.actions if isinstance(action, Command) and action.slash]

    def keys(self, name: str) -> tuple[str, ...]:
        """The keys of an action, named as Textual names them."""
        return self._keys[name]

    def shown(self, name: str) -> str:
        """The first key of an action, as users write it: `Ctrl+G`. Empty if it has none."""
        keys = self._keys[name]
        return shown_key(keys[0]) if keys else ""

    def _read(self, changes: Mapping[str, str | Sequence[str]]) -> set[str]:
        """Apply the changes. Returns the names of the actions that were changed."""
        changed: set[str] = set()
        owners: dict[tuple[Where, str], str] = {}
        for name, written in changes.items():
            if name not in self._by_name:
                hint = did_you_mean(name, self._by_name) or "/help lists them"
                self.problems.append(f"[keys] {name}: there is no such action ({hint})")
                continue
            keys: list[str] = []
            for text in [written] if isinstance(written, str) else written:
                key = parsed_key(text)
                if key is None:
                    self.problems.append(f"[keys] {name}: {text!r} is no key (like ctrl+g, alt+enter, f2, shift+tab)")
                    continue
                places = self._places(name)
                if other := next((owners[place, key] for place in places if (place, key) in owners), None):
                    self.problems.append(f"[keys] {name}: {text} is given to {other} already")
                    continue
                owners |= {(place, key): name for place in places}
                keys.append(key)
            if keys or not written:
                self._keys[name] = tuple(keys)
                changed.add(name)
        return changed

    def _places(self, name: str) -> tuple[Where, ...]:
        where = self._by_name[name].where
        return (where, *_OVERLAPS.get(where, ()))


def parsed_key(text: str) -> str | None:
    """A key that a user wrote, named as Textual names it; None if it is not a key."""
    written = "space" if text == " " else text.replace(" ", "")
    before, _, base = written[:-1].rpartition("+")
    base += written[-1:]
    modifiers = [_ALIASES.get(part.lower(), part.lower()) for part in before.split("+") if before]
    if any(part not in _MODIFIERS for part in modifiers) or (written.endswith("+") and not written.endswith("++")):
        return None
    base = _ALIASES.get(base.lower(), base.lower() if len(base) > 1 or modifiers else base)
    if len(base) == 1:
        if modifiers == ["shift"] and base.isalpha():
            return base.upper()
        if not base.isalnum():
            base = _character_name(base)
    elif base not in _NAMED and not _is_character_name(base):
        return None
    # Textual names the modifiers of a key in alphabetical order.
    return "+".join([*sorted(set(modifiers)), base])


def shown_key(key: str) -> str:
    """A key as users write it."""
    parts = key.split("+")
    return "+".join(
        _SHOWN.get(part, part if len(part) == 1 and len(parts) == 1 else part.capitalize()) for part in parts
    )


def _character_name(character: str) -> str:
    name = unicodedata.name(character, character).lower().replace("-", "_").replace(" ", "_")
    return _SHORT.get(name, name)


def _is_character_name(name: str) -> bool:
    if name in _SHORT.values():
        return True
    try:
        unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return False
    return name not in _SHORT
