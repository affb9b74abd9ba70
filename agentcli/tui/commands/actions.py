"""Actions: everything a key, a `/command` or the command palette can do, and the default keys of each.

Declared here are the actions that widgets and screens implement; `table` has those of the whole app. Nothing here is
imported from Textual. The names are those that `[keys]` in the config takes; the user reads the titles in `/help`.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from agentcli.tui.app_context import AppContext
    from agentcli.tui.commands.command_context import CommandContext


class Where(StrEnum):
    """Where a key has an effect. The value is the heading in the help."""

    EDITOR = "Writing"
    APP = "The conversation"
    """In effect while writing too."""
    COMPLETION = "Completion"
    QUEUE = "The queue"
    PERMISSION = "Permission"
    LIST = "Lists"
    SESSIONS = "Session list"
    """In effect together with `LIST`, as `TREE` is."""
    TREE = "Session tree"


class Action(Struct, frozen=True):
    """Something the user can do with a key."""

    name: str
    where: Where
    title: str
    keys: tuple[str, ...] = ()
    """Default keys, named as Textual names them."""
    does: str = ""
    """The Textual action that implements it, if that is not `name`."""


class AppAction(Action, frozen=True, kw_only=True):
    """An action that takes effect at once, also while the runtime is being created."""

    handler: "Callable[[AppContext], None]"


Handler = Callable[["CommandContext", str], Awaitable[None]]
"""Runs a command with what was written after its name; empty from a key."""


class Command(Action, frozen=True, kw_only=True):
    """An action that needs the runtime, and may open a screen and wait for the user's choice there."""

    load: Callable[[], Handler]
    """Imports and returns the handler: handlers are not imported before the first paint."""
    slash: bool = False
    """Whether `/name` runs it too."""
    argument: str = ""
    """What the `/command` takes, as a hint: `[instructions]`."""


_E, _C, _Q = Where.EDITOR, Where.COMPLETION, Where.QUEUE
_P, _L, _S, _T = Where.PERMISSION, Where.LIST, Where.SESSIONS, Where.TREE

EDITOR_ACTIONS: tuple[Action, ...] = (
    Action("submit", _E, "Send; while the agent works: steer it", ("enter",)),
    Action("follow_up", _E, "Send when the agent is done", ("alt+enter", "ctrl+enter", "ctrl+q")),
    Action("new_line", _E, "New line (also \\ and Enter)", ("shift+enter", "ctrl+j")),
    Action("abort", _E, "Stop the run and take back what is queued; twice on an empty editor: the tree", ("escape",)),
    Action("interrupt", _E, "Copy what is selected; clear the draft; stop the run; twice: quit", ("ctrl+c",)),
    Action("end", _E, "Quit, on an empty editor; else delete to the right", ("ctrl+d",)),
    Action("complete", _E, "Complete a path, a file after @, a command after /", ("tab",)),
    Action("history_search", _E, "Search what was sent in this folder", ("ctrl+r",)),
    Action("external_editor", _E, "Write in $VISUAL or $EDITOR", ("ctrl+g",)),
    Action("paste", _E, "Paste; an image becomes a file that is attached", ("ctrl+v",)),
    Action("up", _E, "Line up; at the top: what was sent before", ("up",)),
    Action("down", _E, "Line down; at the bottom: what was sent after", ("down",)),
    Action("left", _E, "Character left", ("left", "ctrl+b"), does="cursor_left"),
    Action("right", _E, "Character right", ("right", "ctrl+f"), does="cursor_right"),
    Action("word_left", _E, "Word left", ("ctrl+left", "alt+left", "alt+b"), does="cursor_word_left"),
    Action("word_right", _E, "Word right", ("ctrl+right", "alt+right", "alt+f"), does="cursor_word_right"),
    Action("line_start", _E, "Start of the line", ("home", "ctrl+a"), does="cursor_line_start"),
    Action("line_end", _E, "End of the line", ("end", "ctrl+e"), does="end_or_follow"),
    Action("select_left", _E, "Select to the left", ("shift+left",), does="cursor_left(True)"),
    Action("select_right", _E, "Select to the right", ("shift+right",), does="cursor_right(True)"),
    Action("select_up", _E, "Select a line up", ("shift+up",), does="cursor_up(True)"),
    Action("select_down", _E, "Select a line down", ("shift+down",), does="cursor_down(True)"),
    Action("select_word_left", _E, "Select a word left", ("ctrl+shift+left",), does="cursor_word_left(True)"),
    Action("select_word_right", _E, "Select a word right", ("ctrl+shift+right",), does="cursor_word_right(True)"),
    Action("select_line_start", _E, "Select to the start of the line", ("shift+home",), does="cursor_line_start(True)"),
    Action("select_line_end", _E, "Select to the end of the line", ("shift+end",), does="cursor_line_end(True)"),
    Action("select_all", _E, "Select everything", ("f7",)),
    Action("delete_left", _E, "Delete to the left", ("backspace", "ctrl+h", "shift+backspace")),
    Action("delete_right", _E, "Delete to the right", ("delete", "shift+delete")),
    Action("delete_word_left", _E, "Delete the word before", ("ctrl+w", "ctrl+backspace", "alt+backspace")),
    Action("delete_word_right", _E, "Delete the word after", ("alt+d", "alt+delete", "ctrl+delete")),
    Action("delete_to_line_start", _E, "Delete to the start of the line", ("ctrl+u",), does="delete_to_start_of_line"),
    Action("delete_to_line_end", _E, "Delete to the end of the line", ("ctrl+k",), does="delete_to_end_of_line"),
    Action("cut", _E, "Cut", ("ctrl+x",)),
    Action("undo", _E, "Undo", ("ctrl+underscore", "ctrl+minus", "super+z")),
    Action("redo", _E, "Redo", ("ctrl+y", "super+y", "shift+super+z")),
)
OTHER_ACTIONS: tuple[Action, ...] = (
    Action("completion_next", _C, "Next", ("down", "ctrl+n")),
    Action("completion_previous", _C, "Previous", ("up", "ctrl+p")),
    Action("completion_accept", _C, "Take it", ("tab",)),
    Action("completion_submit", _C, "Take it; a command runs", ("enter",)),
    Action("completion_close", _C, "Close", ("escape",)),
    #
    Action("queue_up", _Q, "Up", ("up", "k")),
    Action("queue_down", _Q, "Down", ("down", "j")),
    Action("queue_edit", _Q, "Take it into the editor to change it", ("enter", "e")),
    Action("queue_remove", _Q, "Remove it", ("delete", "backspace", "d")),
    Action("queue_move_up", _Q, "Move it up", ("shift+up", "K")),
    Action("queue_move_down", _Q, "Move it down", ("shift+down", "J")),
    Action("queue_switch", _Q, "Make it a follow-up, or steering", ("tab", "space", "s")),
    Action("queue_leave", _Q, "Back to the editor", ("escape", "q", "alt+q")),
    #
    Action("allow_once", _P, "Allow once (Enter only without a draft)", ("y", "enter")),
    Action("allow_session", _P, "Allow the like for this session", ("s",)),
    Action("allow_always", _P, "Allow the like always", ("a",)),
    Action("deny", _P, "Deny", ("n", "escape")),
    Action("deny_reason", _P, "Deny, and say why", ("r",)),
    #
    Action("list_up", _L, "Up", ("up", "ctrl+p")),
    Action("list_down", _L, "Down", ("down", "ctrl+n")),
    Action("list_page_up", _L, "A page up", ("pageup",)),
    Action("list_page_down", _L, "A page down", ("pagedown",)),
    Action("list_start", _L, "To the first", ("ctrl+home",)),
    Action("list_end", _L, "To the last", ("ctrl+end",)),
    Action("list_choose", _L, "Choose", ("enter",)),
    Action("list_cancel", _L, "Close without choosing", ("escape", "ctrl+c")),
    #
    Action("sessions_scope", _S, "This folder, or all", ("tab",)),
    Action("sessions_rename", _S, "Rename", ("ctrl+r",)),
    Action("sessions_delete", _S, "Delete", ("ctrl+d",)),
    #
    Action("tree_fold", _T, "Fold, or go to where the branch began", ("left",)),
    Action("tree_unfold", _T, "Unfold", ("right",)),
    Action("tree_filter", _T, "Show more or less: prompts, labelled, no tools, everything", ("tab", "ctrl+o")),
    Action("tree_label", _T, "Label the entry", ("ctrl+l",)),
    Action("tree_fork", _T, "Fork there: a session of its own", ("ctrl+f",)),
    Action("tree_summarize", _T, "Go there with a summary of the branch that is left", ("ctrl+s",)),
)
KEY_ACTIONS = (*EDITOR_ACTIONS, *OTHER_ACTIONS)
"""What widgets and screens implement."""
