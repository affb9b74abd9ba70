"""The legs of the walk: what a person does in one terminal, and what has to be seen then."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.walk.tmux import PROMPT, Tmux

Answer = list[dict[str, Any]]

SAID: Answer = [{"text": "Said."}]
LONG = "\n\n".join(f"Paragraph {number}: some **words**, and `code`." for number in range(1, 13))
WORKING: Answer = [
    {"thinking": "First I look.", "chunk": 4},
    {"text": LONG, "chunk": 12, "delay": 0.02},
    {"tool": "bash", "arguments": {"command": "echo line 1; until [ -e ../go ]; do sleep 0.1; done; echo line 2"}},
]
MODELS = """
[providers.acme]
base_url = "http://127.0.0.1:9/v1"
[models."acme/large-2"]
reasoning = true
"""
HANGING: Answer = [{"tool": "bash", "arguments": {"command": "echo begun; sleep 97"}}]


def ready(shown: str) -> bool:
    return " ready" in shown


def takes_answers(shown: str) -> bool:
    return "y/Enter allow once" in shown and "stop typing" not in shown


def conversation(terminal: Tmux) -> None:
    """Prompt, stream, tool panel; steering and a follow-up while it works, the queue, Esc, a command of one's own."""
    terminal.start(WORKING, [{"text": "Steered."}], [{"text": "Followed up."}], HANGING, [{"text": "Yes."}])
    terminal.keep("start")
    terminal.say("look at this")
    terminal.until("Paragraph 3")
    terminal.keep("streaming")
    terminal.until("line 1")
    assert terminal.title().startswith("● agentcli"), terminal.title()
    terminal.say("use the other file")
    terminal.say("then run the tests", "M-Enter")
    terminal.until(lambda shown: "steer: use the other file" in shown and "follow-up: then run the tests" in shown)
    terminal.keep("queue")
    terminal.press("M-q")
    terminal.until("❯ steer: use the other file")
    terminal.press("Enter")
    terminal.until("Enter puts it back into its place")
    terminal.say(", please")
    terminal.until("steer: use the other file, please")
    (terminal.folder.parent / "go").touch()
    shown = terminal.until(lambda shown: "Followed up." in shown and ready(shown), 60)
    assert shown.index("❯ use the other file, please") < shown.index("Steered.") < shown.index("❯ then run the tests")
    terminal.keep("delivered")
    terminal.say("hang")
    terminal.until("begun")
    terminal.say("queued")
    terminal.until("steer: queued")
    terminal.type("a draft")
    terminal.press("Escape")
    shown = terminal.until(lambda shown: "Aborted by the user" in shown and ready(shown))
    assert shown.rindex("queued") < shown.rindex("a draft"), shown
    terminal.keep("given-back")
    terminal.press("C-c")
    terminal.say("!echo from-the-$((40+2))")
    terminal.until("from-the-42")
    terminal.say("did you see that?")
    terminal.until("Yes.")
    terminal.keep("own-command")
    quit(terminal)


def permission(terminal: Tmux) -> None:
    """Asked, denied with a reason, allowed; what is typed is no answer."""
    call: Answer = [{"tool": "bash", "arguments": {"command": "echo it > made; cat made"}}]
    terminal.start(call, call, [{"text": "Done."}], mode="ask")
    terminal.say("make it")
    terminal.until(takes_answers)
    terminal.keep("asked")
    terminal.press("r")
    terminal.say("not there")
    terminal.until(lambda shown: "not there" in shown and "Allow bash?" in shown)
    assert not (terminal.folder / "made").exists()
    terminal.until(takes_answers)
    terminal.press("y")
    terminal.until("Done.")
    assert (terminal.folder / "made").read_text() == "it\n"
    terminal.keep("allowed")
    quit(terminal)


def choices(terminal: Tmux) -> None:
    """Model, thinking, theme with its preview, help, the palette."""
    home = terminal.folder.parent / "home/.agentcli"
    home.mkdir()
    (home / "config.toml").write_text(MODELS)
    terminal.start(SAID)
    terminal.say("hi")
    terminal.until("Said.")
    terminal.say("/model")
    terminal.until("offline/pilot")
    terminal.type("large-2")
    terminal.until("❯   acme/large-2")
    terminal.keep("model")
    terminal.press("Enter")
    shown = terminal.until(lambda shown: "answers from the next request on" in shown and "from here on: acme" in shown)
    level = shown.rsplit("thinking ", 1)[1].split()[0]
    terminal.press("BTab")
    terminal.until(lambda shown: "thinking: " in shown and f"thinking: {level}" not in shown)
    terminal.keep("next-level")
    terminal.say("/theme")
    terminal.until("solarized-light")
    before = terminal.screen("-e")
    terminal.type("solarized-l")
    terminal.until("1 of")
    assert terminal.screen("-e") != before
    terminal.keep("theme")
    terminal.press("Escape")
    terminal.until("Said.")
    terminal.say("/theme light")
    terminal.until(ready)
    assert 'theme = "light"' in (home / "config.toml").read_text()
    terminal.press("F1")
    terminal.until("Keys and commands")
    terminal.keep("help")
    terminal.type("queue")
    terminal.until("[dequeue]")
    terminal.press("Escape", "C-p")
    terminal.until("Commands")
    terminal.type("sessio")
    terminal.until("/new")
    terminal.keep("palette")
    terminal.press("Escape")
    quit(terminal)


def sessions(terminal: Tmux) -> None:
    """Back in the tree and with a summary, fork, new, resume, name, stats, export, copy."""
    terminal.start(*([{"text": f"Answer {number}."}] for number in range(1, 9)))
    for number in (1, 2, 3):
        terminal.say(f"prompt {number}")
        terminal.until(f"Answer {number}.")
    terminal.say("/name my walk")
    terminal.until("named: my walk")
    assert terminal.title() == "agentcli · my walk", terminal.title()
    terminal.say("/session")
    terminal.until(lambda shown: "messages  6" in shown and ".jsonl" in shown)
    terminal.keep("session")
    terminal.say("/export")
    terminal.until("exported to")
    assert "Answer 3." in (terminal.folder / "my-walk.html").read_text()
    terminal.say("/copy")
    terminal.until("copied the last answer, 9 characters")
    terminal.say("/tree")
    terminal.until("assistant: Answer 3.")
    terminal.press("Up", "Up", "Up")
    terminal.keep("tree")
    terminal.press("Enter")
    terminal.until(lambda shown: "another place of its tree" in shown and "│ prompt 2" in shown)
    terminal.keep("went-back")
    terminal.press("C-u")
    terminal.say("another way")
    terminal.until("Answer 4.")
    terminal.press("M-t")
    terminal.until("user: prompt 3")
    terminal.type("prompt 3")
    terminal.press("C-s", "Enter")
    terminal.until(lambda shown: "summarised" in shown and "│ prompt 3" in shown and ready(shown))
    terminal.keep("summarised")
    terminal.press("C-c")
    terminal.say("/fork")
    terminal.until("Fork before which prompt?")
    terminal.keep("fork")
    terminal.press("Enter")
    terminal.until(lambda shown: "│ prompt 2" in shown and "Answer 1." in shown)
    terminal.press("C-c")
    terminal.say("/name the fork")
    terminal.until("named: the fork")
    terminal.say("/new")
    terminal.without("Answer 1.")
    terminal.press("M-r")
    terminal.until("Sessions in")
    terminal.keep("resume")
    terminal.type("my walk")
    terminal.until("1 of 2")
    terminal.press("Enter")
    terminal.until("Answer 2.")
    terminal.keep("resumed")
    quit(terminal)


def writing(terminal: Tmux) -> None:
    """@, Tab, the history, a large paste, the external editor, an unknown command."""
    (terminal.folder / "src").mkdir()
    (terminal.folder / "src/parser.py").write_text("")
    editor = terminal.folder.parent / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "\\nfrom the editor" >> "$1"\n')
    editor.chmod(0o755)
    terminal.say(f"export VISUAL={editor}")
    terminal.start([{"text": "Answer 1."}], [{"text": "Answer 2."}])
    terminal.type("look at @par")
    terminal.until("❯ src/parser.py")
    terminal.keep("completion")
    terminal.press("Enter", "C-c")
    terminal.type("cat src/pa")
    terminal.press("Tab")
    terminal.until("cat src/parser.py")
    terminal.press("C-c")
    terminal.type("/frobnicate")
    terminal.press("Enter")
    terminal.until("there is no /frobnicate")
    terminal.press("C-c")
    terminal.say("an old prompt")
    terminal.until("Answer 1.")
    terminal.press("C-r")
    terminal.until("What you sent")
    terminal.type("old")
    terminal.keep("history")
    terminal.press("Enter")
    terminal.until("│ an old prompt")
    terminal.press("C-c")
    terminal.type("a draft")
    terminal.press("C-g")
    terminal.until(lambda shown: "│ a draft" in shown and "│ from the editor" in shown)
    terminal.keep("external-editor")
    terminal.press("C-c")
    terminal.paste("".join(f"line {number} of a long paste\n" for number in range(10_000)))
    terminal.until("+10000 lines]")
    terminal.keep("paste")
    terminal.press("Enter")
    terminal.until("Answer 2.")
    quit(terminal)


def in_a_shell(terminal: Tmux) -> None:
    """Suspended and back, small and large again, killed with a draft; the terminal is as it was before."""
    words: Answer = [{"text": "words " * 300, "chunk": 6, "delay": 0.3}]
    terminal.start(SAID, words, words)
    terminal.say("hi")
    terminal.until("Said.")
    terminal.press("C-z")
    terminal.until("Stopped")
    assert not terminal.alternate()
    terminal.say("fg")
    terminal.until(lambda shown: "Said." in shown and "Ask anything" in shown and ready(shown))
    terminal.keep("back")
    terminal.say("stream")
    terminal.until("words words")
    for size in ((20, 5), (10, 3), (100, 30)):
        terminal.resize(*size)
        terminal.keep(f"{size[0]}x{size[1]}")
    terminal.until(lambda shown: "❯ hi" in shown and "Ask anything" in shown)
    terminal.press("Escape")
    terminal.until("aborted by the user")
    terminal.type("not sent yet")
    terminal.until("│ not sent yet")
    drafts = terminal.folder.parent / "home/.agentcli"
    terminal.until(lambda shown: any("not sent yet" in text_of(path) for path in drafts.rglob("*.draft")))
    os.kill(terminal.pid(), signal.SIGKILL)
    terminal.until("Killed")
    terminal.say("tput rmcup; reset; stty -a > ../before; echo before-the-app")
    terminal.until("before-the-app\n")
    terminal.start(SAID, ready="│ not sent yet")
    terminal.keep("draft-is-back")
    terminal.press("C-c")
    quit(terminal)
    assert "before-the-app" in terminal.screen(), terminal.screen()
    terminal.say("stty -a | diff - ../before && echo as-it-$((1))-was")
    terminal.until("as-it-1-was")
    terminal.keep("shell")


def quit(terminal: Tmux) -> None:
    terminal.until("Ask anything")
    terminal.press("C-d")
    terminal.until(lambda shown: shown.rstrip().endswith(PROMPT))
    assert not terminal.alternate(), "the app has gone, and its screen has not"


def text_of(path: Path) -> str:
    return path.read_text(errors="replace") if path.is_file() else ""


LEGS: dict[str, Callable[[Tmux], None]] = {
    "conversation": conversation,
    "permission": permission,
    "choices": choices,
    "sessions": sessions,
    "writing": writing,
    "shell": in_a_shell,
}
SHORT = ("permission", "shell")
