"""Pictures of the app as SVG, in a form that is small and holds nothing of the machine that took them."""

import re
from collections import Counter
from typing import Any

from textual.app import App

from agentcli.tui.app import ChatApp

_CELL = 12.2
"""Of the picture, in its own units."""
_BLANK = "&#160;"
_TEXT = re.compile(r'(<text [^>]*textLength=")([\d.]+)("[^>]*>)((?:[^<])*)</text>')
_RECT = re.compile(r'<rect fill="([^"]+)" x="[^"]*" y="[^"]*" width="[^"]*" height="[^"]*"\s*/>')


def small(svg: str) -> str:
    """The picture without fonts from elsewhere, blanks at row ends, clips of rows, and its own background again."""
    svg = re.sub(r"<!--.*?-->|@font-face \{.*?\}", "", svg, flags=re.S)
    svg = re.sub(
        r'<clipPath id="[^"]*-line-\d+">.*?</clipPath>\s*| clip-path="url\([^)]*-line-\d+\)"', "", svg, flags=re.S
    )
    svg = svg.replace(' shape-rendering="crispEdges"', "")
    svg = re.sub(r'(?<=")\d+\.\d{2,}(?=")', lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), svg)
    svg = _TEXT.sub(_without_end, svg)
    fills = Counter(_RECT.findall(svg))
    background = fills.most_common(1)[0][0] if fills else ""
    svg = _RECT.sub(lambda found: "" if found[1] == background else found[0], svg)
    svg = svg.replace('<rect fill="#292929"', f'<rect fill="{background}"', 1)
    return re.sub(r"\n\s*(?=\n)", "", svg)


def _without_end(found: re.Match[str]) -> str:
    text = found[4].rstrip()
    blanks = 0
    while text.endswith(_BLANK):
        text, blanks = text[: -len(_BLANK)], blanks + 1
    if not text:
        return ""
    length = f"{float(found[2]) - blanks * _CELL:.1f}".removesuffix(".0")
    return f"{found[1]}{length}{found[3]}{text}</text>"


class PictureApp(ChatApp):
    """Its `run` returns what it was ended with, as the taker of pictures expects."""

    run = App.run  # type: ignore[assignment]

    def export_screenshot(self, **options: Any) -> str:
        return small(super().export_screenshot(**options))
