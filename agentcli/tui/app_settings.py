"""Applies the settings and the directory of a session to the app: keys, theme, notifications, completion."""

from agentcli.tui.app_context import AppContext
from agentcli.tui.commands import completion_sources as offers
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.editor_setup import equip
from agentcli.tui.session_controller import SessionController


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
