"""The exported page in a real browser: `python -m tests.sessions.browser [CHROMIUM]`.

It needs Chromium (`apt-get install chromium`) and playwright. A hostile session is exported and opened from the disk, with
the network cut off: nothing of it may run, the tree must lead through the branches, and no policy may be violated by us.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from agentcli.agent.messages import AssistantMessage, TextContent, user_message
from agentcli.sessions.export.export import export_session
from agentcli.sessions.repo import JsonlSessionRepo
from agentcli.sessions.session import Session
from tests.sessions.test_export import HOSTILE, fill


def hostile_session(folder: Path) -> tuple[Session, list[str]]:
    """Returns the session, and the first entry, the leaf of a left branch, and the leaf."""
    session = JsonlSessionRepo(folder / "sessions").create(folder)
    first = session.append_message(user_message("alert?"))
    for text in HOSTILE:
        session.append_message(user_message(text))
        session.append_message(AssistantMessage([TextContent(text)], model=text))
    fill(session)
    left = session.leaf_id or ""
    session.move_to(first)
    last = session.append_message(AssistantMessage([TextContent("another way")]))
    session.append_label(last, HOSTILE[0])
    session.append_session_info(HOSTILE[1])
    return session, [first, left, last]


def visible(page: Page, id: str) -> bool:
    return page.locator(f"article[data-id='{id}']").is_visible()


def check_hostile(page: Page, address: str, ids: list[str], problems: list[str]) -> None:
    first, left, last = ids
    page.goto(address)
    assert page.title() == HOSTILE[1]
    assert visible(page, first) and visible(page, last) and not visible(page, left)
    page.locator(f"nav a[data-id='{left}']").click()
    assert visible(page, first) and visible(page, left) and not visible(page, last)
    assert page.url.endswith(f"#e-{left}")
    page.locator("#filter").fill("another")
    assert page.locator("nav li:visible").count() == 1
    page.locator("#filter").fill("")
    folded = page.locator("article:not(.off) details.result:not([open])").first.element_handle()
    assert folded is not None and not folded.query_selector("pre").is_visible()
    folded.query_selector("summary").click()
    assert folded.query_selector("pre").is_visible(), "folded output opens"
    added = page.locator(".diff .add").first.evaluate("element => getComputedStyle(element).color")
    removed = page.locator(".diff .del").first.evaluate("element => getComputedStyle(element).color")
    assert added != removed, "diffs are coloured"
    page.goto(f"{address}#e-{left}")
    page.reload()
    assert visible(page, left), "a link to an entry leads to it"
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert problems == [], problems


def check_large(page: Page, folder: Path) -> None:
    session = JsonlSessionRepo(folder / "large").create(folder)
    for number in range(5000):
        session.append_message(user_message(f"message {number}"))
    file = folder / "large.html"
    file.write_text(export_session(session, "html"))
    session.close()
    started = time.perf_counter()
    page.goto(file.as_uri())
    page.locator("nav a").last.click()
    print(f"5,000 entries: shown and gone through in {time.perf_counter() - started:.1f} s")
    assert page.locator("article").count() == 5000


def main(arguments: list[str]) -> int:
    chromium = arguments[0] if arguments else shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("there is no chromium here: apt-get install chromium")
        return 2
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        page = context.new_page()
        problems: list[str] = []
        page.on("dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda message: problems.append(f"console: {message.text}"))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or problems.append(request.url))
        session, ids = hostile_session(folder)
        file = folder / "page.html"
        file.write_text(export_session(session, "html"))
        session.close()
        check_hostile(page, file.as_uri(), ids, problems)
        print("a hostile session: nothing ran, nothing was asked of the network, the tree leads through the branches")
        check_large(page, folder)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
