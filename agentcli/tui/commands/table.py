"""The table of the app's own actions and commands: one declaration each, with its handler.

A new command is a line here and a function with the signature of `Handler` in one of the modules that are imported
below. It is then in the help, the command palette, the completion after `/` and `[keys]` of the config.
"""

from collections.abc import Callable

from agentcli.tui.app_context import AppContext
from agentcli.tui.commands.actions import EDITOR_ACTIONS, OTHER_ACTIONS, Action, AppAction, Command, Handler, Where
from agentcli.tui.items.item import Fold


def _general():
    from agentcli.tui.commands import general_commands

    return general_commands


def _sessions():
    from agentcli.tui.commands import session_commands

    return session_commands


def _choices():
    from agentcli.tui.commands import choices

    return choices


def _page(app: AppContext, direction: int) -> None:
    transcript = app.transcript
    transcript.scroll_relative(y=direction * max(transcript.size.height - 2, 1), animate=False)


def _toggle(app: AppContext, fold: Fold) -> None:
    app.transcript.unfold(fold, not app.transcript.is_unfolded(fold))


def _act(name: str, title: str, handler: Callable[[AppContext], None], *keys: str) -> AppAction:
    return AppAction(name, Where.APP, title, keys, handler=handler)


def _command(name: str, title: str, load: Callable[[], Handler], *, keys: tuple[str, ...] = ()) -> Command:
    return Command(name, Where.APP, title, keys, load=load)


def _slash(
    name: str, title: str, load: Callable[[], Handler], argument: str = "", *, keys: tuple[str, ...] = ()
) -> Command:
    return Command(name, Where.APP, title, keys, load=load, slash=True, argument=argument)


APP_ACTIONS: tuple[AppAction | Command, ...] = (
    _act("page_up", "Scroll up", lambda app: _page(app, -1), "pageup"),
    _act("page_down", "Scroll down", lambda app: _page(app, 1), "pagedown"),
    _act("to_start", "Start of the conversation", lambda app: app.transcript.scroll_home(animate=False), "ctrl+home"),
    _act("to_end", "End of the conversation, and follow it", lambda app: app.transcript.follow(), "ctrl+end"),
    _act("previous_prompt", "Up to the prompt before", lambda app: app.transcript.to_prompt(-1), "ctrl+up"),
    _act("next_prompt", "Down to the next prompt", lambda app: app.transcript.to_prompt(1), "ctrl+down"),
    _act("expand_tools", "Unfold or fold what tools answered", lambda app: _toggle(app, Fold.TOOLS), "ctrl+o"),
    _act("expand_thinking", "Unfold or fold what the model thought", lambda app: _toggle(app, Fold.THINKING), "ctrl+t"),
    _act("dequeue", "Take the last queued message back", lambda app: app.queue_controller.dequeue(), "alt+up"),
    _act(
        "edit_queue",
        "Go to the queue: edit, remove, move, switch",
        lambda app: app.queue_controller.focus(),
        "alt+q",
        "alt+down",
    ),
    _command("cycle_thinking", "The next thinking level", lambda: _choices().cycle_thinking, keys=("shift+tab",)),
    _command("suspend", "Leave for the shell; fg comes back", lambda: _general().suspend, keys=("ctrl+z",)),
    _command("palette", "Find a command", lambda: _general().palette, keys=("ctrl+p",)),
    _slash("new", "Start a new session", lambda: _sessions().new, keys=("alt+n",)),
    _slash("resume", "Go on with another session", lambda: _sessions().resume, "[id]", keys=("alt+r",)),
    _slash("tree", "Go to another place of this session's tree", lambda: _sessions().tree, keys=("alt+t",)),
    _slash("fork", "A session of its own, from one of your prompts on", lambda: _sessions().fork),
    _slash("clone", "Go on in a copy of this session", lambda: _sessions().clone),
    _slash("model", "Choose the model", lambda: _choices().model, "[provider/id[:level]]", keys=("ctrl+l",)),
    _slash("thinking", "Choose how much the model thinks", lambda: _choices().thinking, "[level]"),
    _slash(
        "permissions", "Choose what happens to calls that no rule speaks of", lambda: _choices().permissions, "[mode]"
    ),
    _slash("compact", "Summarise the older part of the conversation", lambda: _general().compact, "[instructions]"),
    _slash("name", "Name this session", lambda: _sessions().name, "[name]"),
    _slash("session", "What this session is, holds and cost", lambda: _sessions().session),
    _slash("export", "Write the session to a file: HTML, Markdown, JSONL", lambda: _sessions().export, "[file]"),
    _slash("copy", "Copy the last answer", lambda: _general().copy, keys=("alt+c",)),
    _slash("theme", "Choose the colours", lambda: _choices().theme, "[name]"),
    _slash("help", "Every key and command", lambda: _general().help, keys=("f1",)),
    _slash("quit", "Quit", lambda: _general().quit),
)
SEARCH_HISTORY = _command("history_search", "Search the history", lambda: _general().history_search)
"""Asked for by the editor, whose action of this name reads the history first."""
ACTIONS: tuple[Action, ...] = (*EDITOR_ACTIONS, *APP_ACTIONS, *OTHER_ACTIONS)
"""Every action, in the order of the help."""
BY_NAME: dict[str, AppAction | Command] = {action.name: action for action in APP_ACTIONS}
