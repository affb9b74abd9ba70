"""Applies the settings and the directory of a session to the app: keys, theme, notifications, completion."""

from collections.abc import Callable, Sequence
from pathlib import Path

from agentcli.agent.errors import AgentcliError
from agentcli.agent.threads import to_thread
from agentcli.config.paths import home, require_home, sessions_folder
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.tui.app_context import AppContext
from agentcli.tui.commands import completion_sources as offers
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.editing.completion import Arguments, Choice, Completer
from agentcli.tui.editing.drafts import Drafts
from agentcli.tui.editing.file_finder import FileFinder
from agentcli.tui.editing.prompt_history import PromptHistory
from agentcli.tui.session_controller import SessionController
from agentcli.tui.widgets.completing import Completing
from agentcli.tui.widgets.editor import Editor


def apply_settings(app: AppContext, controller: SessionController) -> list[str]:
    """Apply the settings of the session. Returns notices for the user, one line each."""
    settings = controller.runtime.options.settings
    app.keymap = Keymap(settings.keys, app.keymap.actions)
    for widget in (app.editor, app.reason, app.queue, app.permission):
        widget.keymap = app.keymap
    app.editor.external_editor = settings.external_editor
    app.notifier.notify, app.notifier.notify_after = settings.notify, settings.notify_after
    return [*app.theming.choose(settings.theme), *app.keymap.problems]


async def equip_editor(app: AppContext, controller: SessionController) -> None:
    """Give the editor the history, files and left-behind draft of the session's directory."""
    commands, arguments = (lambda: offers.commands(controller, app.keymap)), offers.arguments(controller)
    if await equip(app.editor, controller.runtime.cwd, commands=commands, arguments=arguments):
        app.footer.flash("this draft was left behind here")


def history_file(cwd: Path) -> Path:
    """The file with the prompt history of a working directory.

    Raises:
        ConfigError: there is no home directory.
    """
    require_home()
    return home() / "history" / f"{JsonlSessionRepo(sessions_folder()).folder_of(cwd).name}.jsonl"


def drafts_folder(cwd: Path) -> Path:
    """The directory with the drafts of a working directory.

    Raises:
        ConfigError: there is no home directory.
    """
    require_home()
    return home() / "drafts" / JsonlSessionRepo(sessions_folder()).folder_of(cwd).name


async def equip(editor: Editor, cwd: Path, *, commands: Callable[[], Sequence[Choice]], arguments: Arguments) -> bool:
    """Give the editor all that belongs to a directory. Called again for another directory, it keeps the draft.

    Args:
        editor: what is equipped.
        cwd: the directory.
        commands: what can be written after `/`.
        arguments: what can be written after a command.

    Returns:
        Whether a draft that was left behind was restored.
    """
    completer = Completer(FileFinder(cwd), commands, arguments)
    editor.cwd = cwd
    if editor.completing is None:
        editor.completing = Completing(editor, completer, submit=editor.action_submit, report=editor.report)
        await editor.completing.begin()
    else:
        editor.completing.end()
        editor.completing.completer = completer
    try:
        history, drafts = PromptHistory(history_file(cwd)), Drafts(drafts_folder(cwd))
    except AgentcliError as error:
        editor.report(str(error))
        return False
    await to_thread(editor.prompts.save)
    if editor.prompts.path is None:
        history.follow(editor.prompts)
    editor.prompts = history
    left = await to_thread(drafts.claim)
    editor.report(drafts.problem)
    before, editor.drafts = editor.drafts, drafts
    if left:
        editor.put_before(left)
    await to_thread(drafts.save, editor.unsent)
    if before is not None:
        # The draft is in the new directory's file now.
        await to_thread(before.close, "")
    return bool(left)
