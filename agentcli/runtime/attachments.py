"""Attachments: how piped input, `@file` arguments and words become one prompt."""

import base64
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from agentcli.agent.errors import UsageError
from agentcli.agent.messages import ImageContent, TextContent, UserContent, UserMessage
from agentcli.agent.surrogates import without_surrogates

MAX_FILE_BYTES = 1 << 20
"""A larger file is better read by the agent, in parts."""

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
_MENTION = re.compile(r"""(?<!\S)@(?:"([^"\n]+)"|'([^'\n]+)'|(\S+))""")
_IMAGE_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def build_prompt(
    arguments: Sequence[str], cwd: Path, piped: str = "", expand: Callable[[str], str] = str
) -> UserMessage:
    """One message: piped text, files, words, in this order, with a blank line between.

    Args:
        arguments: words, and `@path` for files (images are attached as such).
        cwd: where relative paths start.
        piped: what came on standard input.
        expand: what the words stand for: `Runtime.expand`.

    Raises:
        UsageError: there is nothing to send, or a file cannot be attached.
    """
    parts: list[str] = [piped.strip("\n")] if piped.strip() else []
    images: list[ImageContent] = []
    words: list[str] = []
    for argument in arguments:
        path = _attached(argument, cwd)
        if path is None:
            words.append(argument)
            continue
        text, image = _read(path)
        parts.append(text)
        images += [image] if image else []
    if instruction := " ".join(words).strip():
        parts.append(expand(instruction))
    if not parts:
        raise UsageError("there is no prompt", hint='agentcli run "what to do", or pipe it in')
    content: list[UserContent] = [TextContent(without_surrogates("\n\n".join(parts))), *images]
    return UserMessage(content)


def images_in(text: str, cwd: Path) -> list[ImageContent]:
    """The image files that a text names as `@path`, or `@"a path"`, each once. What is no image stays words.

    Raises:
        UsageError: an image is too large to attach, or cannot be read.
    """
    images: dict[Path, ImageContent] = {}
    for found in _MENTION.finditer(text):
        path = cwd / Path(found[1] or found[2] or found[3].rstrip(".,;:!?)")).expanduser()
        if path.suffix.lower() in IMAGE_SUFFIXES and path not in images and path.is_file():
            _, image = _read(path)
            if image is not None:
                images[path] = image
    return list(images.values())


def _attached(argument: str, cwd: Path) -> Path | None:
    """The file that an argument names, or None if it is words: `@` and a blank somewhere, and there is no such file."""
    if not argument.startswith("@") or len(argument) == 1:
        return None
    path = cwd / Path(argument[1:]).expanduser()
    if not path.exists() and any(character.isspace() for character in argument):
        return None
    return path


def _read(path: Path) -> tuple[str, ImageContent | None]:
    try:
        if not path.is_file():
            problem = "is not a file" if path.exists() else "does not exist"
            raise UsageError(f"the file {path} {problem}", hint="name another after the @")
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise UsageError(f"the file {path} is too large to attach ({size:,} bytes)", hint="name it without the @")
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"the file {path} cannot be read: {error.strerror}", hint="name another after the @") from None
    for magic, mime_type in _IMAGE_TYPES.items():
        if data.startswith(magic):
            return f'<file name="{path}"></file>', ImageContent(base64.b64encode(data).decode(), mime_type)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return f'<file name="{path}"></file>', ImageContent(base64.b64encode(data).decode(), "image/webp")
    if b"\0" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"the file {path} is binary", hint="name it without the @")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    text = data.decode(encoding, "replace")
    return f'<file name="{path}">\n{text.rstrip()}\n</file>', None
