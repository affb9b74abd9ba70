"""The editor: which program edits a text for the user."""

import os
import shlex
import shutil

from agentcli.agent.errors import UsageError

FALLBACKS = ("nano", "vi")


def editor_command(setting: str | None) -> list[str]:
    """The editor and its arguments: of the setting, `$VISUAL`, `$EDITOR`, or one of `FALLBACKS`.

    Raises:
        UsageError: there is none, or its command line cannot be split.
    """
    sources = {"external_editor": setting, "$VISUAL": os.environ.get("VISUAL"), "$EDITOR": os.environ.get("EDITOR")}
    for source, line in sources.items():
        if not line or not line.strip():
            continue
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{source} is no command: {line} ({error})", hint="close the quote") from None
        if shutil.which(os.path.expanduser(words[0])) is None:  # noqa: PTH111 (a bare name stays one)
            raise UsageError(f"the editor {words[0]} of {source} is not there", hint="install it, or set another")
        return [os.path.expanduser(words[0]), *words[1:]]  # noqa: PTH111
    if found := next(filter(None, map(shutil.which, FALLBACKS)), None):
        return [found]
    raise UsageError("there is no editor", hint="set EDITOR, or external_editor in the config")
