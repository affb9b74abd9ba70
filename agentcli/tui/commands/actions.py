"""Actions: everything a key, a `/command` or the command palette can do, as data, and the keys each has by default.

What an action does is written where it belongs: in the editor, a screen, or `commands`. Nothing here is imported from
Textual. The names are those that `[keys]` in the config takes; a person reads the titles in `/help`.
"""

from enum import StrEnum

from msgspec import Struct


class Where(StrEnum):
    """Where a key counts. The value is the heading in the help."""

    EDITOR = "Writing"
    APP = "The conversation"
    """Counts while writing too."""
    COMPLETION = "Completion"
    QUEUE = "The queue"
    PERMISSION = "Permission"
    LIST = "Lists"
    SESSIONS = "Session list"
    """Counts on top of `LIST`, as `TREE` does."""
    TREE = "Session tree"


class Action(Struct, frozen=True):
    name: str
    where: Where
    title: str
    keys: tuple[str, ...] = ()
    """In Textual's words."""
    command: bool = False
    """Whether `/name` does it too."""
    argument: str = ""
    """What the `/command` takes, as a hint: `[instructions]`."""
    does: str = ""
    """The Textual action, if it is not `name`."""


_E, _A, _C, _Q = Where.EDITOR, Where.APP, Where.COMPLETION, Where.QUEUE
_P, _L, _S, _T = Where.PERMISSION, Where.LIST, Where.SESSIONS, Where.TREE

ACTIONS: tuple[Action, ...] = (
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
    #
    Action("page_up", _A, "Scroll up", ("pageup",)),
    Action("page_down", _A, "Scroll down", ("pagedown",)),
    Action("to_start", _A, "Start of the conversation", ("ctrl+home",)),
    Action("to_end", _A, "End of the conversation, and follow it", ("ctrl+end",)),
    Action("previous_prompt", _A, "Up to the prompt before", ("ctrl+up",)),
    Action("next_prompt", _A, "Down to the next prompt", ("ctrl+down",)),
    Action("expand_tools", _A, "Unfold or fold what tools answered", ("ctrl+o",)),
    Action("expand_thinking", _A, "Unfold or fold what the model thought", ("ctrl+t",)),
    Action("dequeue", _A, "Take the last queued message back", ("alt+up",)),
    Action("edit_queue", _A, "Go to the queue: edit, remove, move, switch", ("alt+q", "alt+down")),
    Action("cycle_thinking", _A, "The next thinking level", ("shift+tab",)),
    Action("suspend", _A, "Leave for the shell; fg comes back", ("ctrl+z",)),
    Action("palette", _A, "Find a command", ("ctrl+p",)),
    Action("new", _A, "Start a new session", ("alt+n",), command=True),
    Action("resume", _A, "Go on with another session", ("alt+r",), command=True, argument="[id]"),
    Action("tree", _A, "Go to another place of this session's tree", ("alt+t",), command=True),
    Action("fork", _A, "A session of its own, from one of your prompts on", command=True),
    Action("clone", _A, "Go on in a copy of this session", command=True),
    Action("model", _A, "Choose the model", ("ctrl+l",), command=True, argument="[provider/id[:level]]"),
    Action("thinking", _A, "Choose how much the model thinks", command=True, argument="[level]"),
    Action("permissions", _A, "Choose what happens to calls that no rule speaks of", command=True, argument="[mode]"),
    Action("compact", _A, "Summarise the older part of the conversation", command=True, argument="[instructions]"),
    Action("name", _A, "Name this session", command=True, argument="[name]"),
    Action("session", _A, "What this session is, holds and cost", command=True),
    Action("export", _A, "Write the session to a file: HTML, Markdown, JSONL", command=True, argument="[file]"),
    Action("copy", _A, "Copy the last answer", ("alt+c",), command=True),
    Action("theme", _A, "Choose the colours", command=True, argument="[name]"),
    Action("help", _A, "Every key and command", ("f1",), command=True),
    Action("quit", _A, "Quit", command=True),
    #
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

BY_NAME = {action.name: action for action in ACTIONS}
COMMANDS = tuple(action for action in ACTIONS if action.command)
"""What `/name` can do, beside templates, skills and the commands of extensions."""
