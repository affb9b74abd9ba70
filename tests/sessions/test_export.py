"""Exports: a page that is safe whatever the transcript holds, Markdown, and lines that can be imported again."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agentcli.agent.errors import UsageError
from agentcli.agent.messages import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    text_of,
    user_message,
)
from agentcli.sessions.export.export import export_session
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "<!-- --><style>*{display:none}</style>",
    "{{ 7 * 7 }}{% raw %}",
    "]]>&amp;<b>",
    "\x1b[31m\x00\ud800",
]


class Page(HTMLParser):
    """What a browser would make of a page, as far as the tests ask."""

    VOID = frozenset({"meta", "input", "img", "br", "link"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.inside: dict[str, list[str]] = {}
        self.feed(text)
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.inside.setdefault(self.open[-1] if self.open else "", []).append(data)
        if "script" not in self.open and "style" not in self.open:
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def session(tmp_path: Path):
    session = JsonlSessionRepo(tmp_path / "sessions").create(tmp_path)
    yield session
    session.close()


def fill(session: Session) -> None:
    session.append_message(user_message("fix it"))
    call = ToolCall("1", "edit", {"path": "a.py", "edits": [{"old_text": "x", "new_text": "y"}]})
    session.append_message(
        AssistantMessage([ThinkingContent("hm"), TextContent("I **do**"), call], provider="p", model="m")
    )
    diff = " 1 same\n-2 old\n+2 new"
    session.append_message(
        ToolResultMessage("1", "edit", [TextContent("Edited")], details={"path": "a.py", "diff": diff})
    )
    session.append_message(ToolResultMessage("2", "bash", [TextContent("\n".join(map(str, range(50))))]))
    session.append_message(ToolResultMessage("3", "read", [ImageContent("aGk=", "image/png")]))


def test_the_page_has_the_tree_beside_the_transcript_diffs_and_folded_results(session: Session):
    fill(session)
    branch = session.get_branch()
    session.move_to(branch[0].id)
    session.append_message(AssistantMessage([TextContent("another way")]))
    page = Page(export_session(session, "html"))
    links, articles = page.all("a"), page.all("article")
    assert [link["data-id"] for link in links] == [article["data-id"] for article in articles]
    assert len(articles) == 6
    assert {link["href"] for link in links} == {f"#{article['id']}" for article in articles}
    hidden = [article["data-id"] for article in articles if "off" in (article["class"] or "").split()]
    assert hidden == [entry.id for entry in branch[1:]]
    marks = [span["class"] for span in page.all("span")]
    assert marks == ["same", "del", "add"]
    folded = [
        details for details in page.all("details") if "result" in (details["class"] or "") and "open" not in details
    ]
    assert len(folded) == 2, "the long output, and the result that its diff says better"
    assert page.all("img")[0]["src"] == "data:image/png;base64,aGk="


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_the_transcript_is_markup(session: Session, text: str):
    session.append_message(user_message(text))
    id = session.append_message(
        AssistantMessage(
            [
                ThinkingContent(text),
                TextContent(text),
                ToolCall(text, text, {text: text}),
                ToolCall("2", "x", {}, text),
            ],
            model=text,
            error_message=text,
        )
    )
    session.append_message(
        ToolResultMessage(
            "1",
            text,
            [
                TextContent(text),
                ImageContent(text, text),
                ImageContent('x" onerror="y', "image/png"),
                ImageContent("aGk=", "image/svg+xml"),
            ],
            details={"path": text, "diff": "+" + text},
        )
    )
    session.append_label(id, text)
    session.append_session_info(text)
    html = export_session(session, "html")
    page = Page(html)
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert page.all("img") == []
    for tag, attributes in page.elements:
        assert tag not in ("iframe", "object", "embed", "form", "link", "base", "b") or tag == "b"
        assert not [name for name in attributes if name.startswith("on")], "no inline handlers"
        assert not [name for name in attributes if name == "style"], "no inline styles: the policy forbids them"
        address = attributes.get("href") or attributes.get("src") or "#"
        assert address.startswith(("#", "data:image/")), address
    assert "\x1b" not in html and "\x00" not in html
    shown = "".join(page.text)
    if text.isprintable():
        assert shown.count(text) >= 5, "it is there to read, as it was"


def test_the_page_needs_no_network_and_allows_only_its_own_script_and_style(session: Session):
    fill(session)
    html = export_session(session, "html")
    page = Page(html)
    (policy,) = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None and policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        text = re.search(f"<{tag}>(.*?)</{tag}>", html, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "http:" not in html and "https:" not in html and "//" not in re.sub(r"(?m)^\s*//.*$", "", html)


def test_a_page_of_thousands_of_entries_is_made(session: Session):
    for number in range(3000):
        session.append_message(user_message(f"message {number}"))
    page = Page(export_session(session, "html"))
    assert len(page.all("article")) == 3000


def test_an_empty_session_can_be_exported(session: Session):
    for format in ("html", "markdown", "jsonl"):
        assert export_session(session, format)
    with pytest.raises(UsageError, match="html, markdown, jsonl"):
        export_session(session, "docx")


def test_markdown_has_the_active_branch_and_fences_that_hold(session: Session):
    fill(session)
    session.append_message(ToolResultMessage("4", "bash", [TextContent("```\nnot the end\n````")]))
    text = export_session(session, "markdown")
    assert text.startswith(f"# Session {session.id}\n")
    assert "## User\n\nfix it\n" in text
    assert "I **do**" in text
    assert "`````\n```\nnot the end\n````\n`````" in text
    assert "hm" not in text.split("## Assistant")[1].split("###")[0]


def test_exported_lines_can_be_imported_again(session: Session, tmp_path: Path):
    fill(session)
    session.append_label(session.get_branch()[0].id, "start")
    file = tmp_path / "out.jsonl"
    file.write_text(export_session(session, "jsonl"))
    repo = JsonlSessionRepo(tmp_path / "elsewhere")
    again = repo.open(repo.import_file(file))
    assert again.build_context() == session.build_context()
    assert again.labels == session.labels
    assert text_of(again.build_context().messages[0].content) == "fix it"
    again.close()
