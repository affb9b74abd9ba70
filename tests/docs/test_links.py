"""Every link of the documentation to something of the project leads there."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.paths import DOCS, ROOT

PAGES = [ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PATH = re.compile(r"`((?:agentcli|tests|docs|themes)/[\w./-]+)`")
_MODULE = re.compile(r"`((?:agent|cli|config|files|headless|providers|runtime|sessions|tools|tui)/(?:[\w/]+\.py)?)`")
_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    titles = re.findall(r"^#+ (.+)$", _FENCED.sub("", page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path):
    for link in _LINK.findall(page.read_text()):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_are_named_exist(page: Path):
    text = page.read_text()
    named = [*_PATH.findall(text), *(f"agentcli/{name}" for name in _MODULE.findall(text))]
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_page_is_listed():
    index = DOCS / "README.md"
    listed = {(DOCS / link.partition("#")[0]).resolve() for link in _LINK.findall(index.read_text())}
    assert [page.name for page in sorted(DOCS.rglob("*.md")) if page != index and page not in listed] == []
