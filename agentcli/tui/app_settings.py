"""App settings: what a conversation's settings and folder mean for the app: keys, colours, notes, writing aids."""

from agentcli.tui.app_context import AppContext
from agentcli.tui.commands import completion_sources as offers
from agentcli.tui.commands.keymap import Keymap
from agentcli.tui.editor_setup import equip
from agentcli.tui.session_controller import SessionController


def apply_settings(app: AppContext, chat: SessionController) -> list[str]:
    """Returns what the person should know, a line each."""
    settings = chat.runtime.options.settings
    app.keymap = Keymap(settings.keys)
    for widget in (app.editor, app.reason, app.queue, app.permission):
        widget.keymap = app.keymap
    app.editor.external_editor = settings.external_editor
    app.attention.notify, app.attention.notify_after = settings.notify, settings.notify_after
    return [*app.theming.choose(settings.theme), *app.keymap.problems]


async def equip_editor(app: AppContext, chat: SessionController) -> None:
    """Give the editor what belongs to the folder: its history, its files, the draft that was left behind."""
    commands, arguments = (lambda: offers.commands(chat)), offers.arguments(chat)
    if await equip(app.editor, chat.runtime.cwd, commands=commands, arguments=arguments):
        app.footer.flash("this draft was left behind here")
