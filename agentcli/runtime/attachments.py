"""Attachments: how piped input, `@file` arguments and words become one prompt. What `@` attaches is what `read` shows.

A word that is `@path` attaches the file: its text as far as `read` gives it, or the image. So does `@path` at the
beginning of a longer text, if there is such a file. Elsewhere in a text only images are attached; the name of any other
file stays a word, and the model reads it if it needs to.
"""

import os
import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agentcli.agent.errors import ToolError, UsageError
from agentcli.agent.messages import ImageContent, TextContent, UserContent, UserMessage, text_of
from agentcli.agent.surrogates import without_surrogates
from agentcli.agent.tools import AgentToolResult
from agentcli.tools.files.image_file import IMAGE_SUFFIXES
from agentcli.tools.files.read_tracker import ReadTracker
from agentcli.tools.options import ToolOptions

__all__ = ["IMAGE_SUFFIXES", "Attachments"]

_MENTION = re.compile(r"""(?<!\S)@(?:"([^"\n]+)"|'([^'\n]+)'|(\S+))""")
_LOOKS_LIKE_A_FILE = re.compile(r"[/~]|\.\w{1,8}$")


class Attachments:
    """Args:
    options: those of the tools: the working folder and the limits of one file.
    known: where it is noted which state of a file the model has seen.
    """

    def __init__(self, options: ToolOptions, known: ReadTracker | None = None) -> None:
        self._options = options
        self._known = known or ReadTracker()
        self.notices: list[str] = []
        """What looked like a file and is sent as words, a line each."""

    def build_prompt(
        self, arguments: Sequence[str], piped: str = "", expand: Callable[[str], str] = str
    ) -> UserMessage:
        """One message: piped text, files, words, in this order, with a blank line between. Blocks.

        Args:
            arguments: words, and `@path` for files.
            piped: what came on standard input.
            expand: what the words stand for: `Runtime.expand`.

        Raises:
            UsageError: there is nothing to send, or a file cannot be attached.
        """
        parts: list[str] = [piped.strip("\n")] if piped.strip() else []
        images: list[ImageContent] = []
        words: list[str] = []
        for argument in arguments:
            names, rest = self._split(argument)
            for name in names:
                result = self._read(name)
                parts.append(f'<file name="{result.details.path}">\n{text_of(result.content).rstrip()}\n</file>')
                images += _images(result)
            words += [rest] if rest or not names else []
        if instruction := " ".join(words).strip():
            images += self.images_in(instruction)
            parts.append(expand(instruction))
        if not parts:
            raise UsageError("there is no prompt", hint='agentcli run "what to do", or pipe it in')
        content: list[UserContent] = [TextContent(without_surrogates("\n\n".join(parts))), *images]
        return UserMessage(content)

    def images_in(self, text: str) -> list[ImageContent]:
        """The image files that a text names as `@path`, or `@"a path"`, each once. What is no image stays words.

        Blocks while an image is decoded, and made smaller if it has to be.

        Raises:
            UsageError: an image is damaged or too large, or cannot be read.
        """
        images: dict[str, list[ImageContent]] = {}
        for found in _MENTION.finditer(text):
            name = self._named(found)
            if not name.lower().endswith(IMAGE_SUFFIXES) or name in images:
                continue
            if self._exists(name):
                images[name] = _images(self._read(name))
            else:
                self.notices.append(f"there is no file {name}, so @{name} is sent as words")
        return [image for each in images.values() for image in each]

    def _split(self, argument: str) -> tuple[list[str], str]:
        """The files that an argument begins with, and the words after them."""
        if not argument.startswith("@") or len(argument) == 1:
            return [], argument
        if self._exists(argument[1:]) or not any(character.isspace() for character in argument):
            return [argument[1:]], ""
        names: list[str] = []
        rest = argument
        while found := _MENTION.match(rest):
            name = self._named(found)
            if not self._exists(name):
                if _LOOKS_LIKE_A_FILE.search(name) and not name.lower().endswith(IMAGE_SUFFIXES):
                    self.notices.append(f"there is no file {name}, so @{name} is sent as words")
                break
            names.append(name)
            rest = rest[found.end() :].lstrip()
        return names, rest

    def _named(self, found: re.Match[str]) -> str:
        """The name that a mention means: what ends a clause is no part of it, unless there is such a file."""
        name: str = found[1] or found[2] or found[3]
        return name if found[3] is None or self._exists(name) else name.rstrip(".,;:!?)")

    def _exists(self, name: str) -> bool:
        return os.path.lexists(self._options.cwd / os.path.expanduser(name))  # noqa: PTH111 (`~nobody` is a name)

    def _read(self, name: str) -> AgentToolResult:
        from agentcli.tools.files.file_place import FilePlace
        from agentcli.tools.files.paths import find_file
        from agentcli.tools.files.read import ReadToolInput, read_file  # 3 ms, for who attaches something

        # Whether the model takes images is decided at each request: the next one may.
        options = replace(self._options, image_input=True)
        try:
            with FilePlace(find_file(name, options.cwd)) as place:
                return read_file(place, ReadToolInput(path=name), options, self._known, lambda: False)
        except ToolError as error:
            raise UsageError(f"@{name} cannot be attached: {error.message}", hint=error.hint) from None


def _images(result: AgentToolResult) -> list[ImageContent]:
    return [block for block in result.content if isinstance(block, ImageContent)]
