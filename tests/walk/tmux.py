"""A terminal of tmux with a shell in it, which is typed into and looked at as a person does."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.tui.drive import write_script
from tests.waiting import wait_until

PROMPT = "walk$"


def is_there() -> bool:
    return shutil.which("tmux") is not None


class Tmux:
    """Args:
    folder: where the shell is; the home is beside it.
    captures: where the screens that are kept go.
    """

    def __init__(self, folder: Path, captures: Path, size: tuple[int, int] = (100, 30)) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        captures.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._captures = captures
        self._count = 0
        self._server = ("tmux", "-S", str(folder.parent / "tmux.socket"), "-f", os.devnull)
        home = folder.parent / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "HOME": str(home),
            "AGENTCLI_HOME": str(home / ".agentcli"),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PS1": f"{PROMPT} ",
            "LANG": "C.UTF-8",
            "COLORTERM": "truecolor",
        }
        variables = [f"{name}={value}" for name, value in environment.items()]
        shell = shlex.join(["env", "-i", *variables, "TERM=tmux-256color", "bash", "--norc", "--noprofile"])
        columns, rows = size
        self._tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder), shell)
        self._tmux("set-option", "-g", "status", "off")
        self._tmux("set-option", "-g", "escape-time", "0")
        self.until(PROMPT)

    def _tmux(self, *arguments: str, input: str | None = None) -> str:
        done = subprocess.run([*self._server, *arguments], input=input, capture_output=True, text=True, timeout=30)
        if done.returncode:
            raise RuntimeError(f"tmux {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    # What a person does

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Args:
        keys: in tmux's words: `Enter`, `C-c`, `M-Enter`, `BTab`, `PageUp`.
        """
        for key in keys:
            self._tmux("send-keys", "--", key)
            if key == "Escape":
                # With a letter at once it is Alt and the letter.
                time.sleep(0.3)

    def say(self, text: str, key: str = "Enter") -> None:
        self.type(text)
        self.press(key)

    def paste(self, text: str) -> None:
        """As terminals paste into programs that asked for brackets round it."""
        self._tmux("load-buffer", "-", input=text)
        self._tmux("paste-buffer", "-p")

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    # What a person sees

    def screen(self, *options: str) -> str:
        return self._tmux("capture-pane", "-p", *options)

    def title(self) -> str:
        return self._tmux("display-message", "-p", "#{pane_title}").strip()

    def alternate(self) -> bool:
        """Whether a program has the screen for itself."""
        return self._tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def until(self, holds: str | Callable[[str], Any], seconds: float = 30.0) -> str:
        """Wait until the screen holds a text, or something is true of it. Returns the screen."""
        shown = ""

        def came() -> bool:
            nonlocal shown
            shown = self.screen()
            return holds in shown if isinstance(holds, str) else holds(shown)

        wait_until(came, seconds, lambda: f"{holds}\n{shown}")
        return shown

    def without(self, text: str) -> str:
        return self.until(lambda shown: text not in shown)

    def keep(self, name: str) -> None:
        """Put the screen into a file, once it stands still."""
        before = ""
        while before != (before := self.screen()):
            time.sleep(0.15)
        self._count += 1
        (self._captures / f"{self._count:02}-{name}.txt").write_text(before, encoding="utf-8")

    # The app

    def start(self, *answers: list[dict[str, Any]], mode: str = "auto", ready: str = "Ask anything") -> None:
        """Start the app with a scripted model, and wait for its prompt."""
        script = write_script(self.folder.parent / "script.jsonl", *answers)
        self.say(f"{shlex.quote(sys.executable)} -m agentcli --model scripted:{script} --permission-mode {mode}")
        self.until(lambda shown: ready in shown and "starting" not in shown)

    def pid(self) -> int:
        """Of what the shell runs."""
        shell = self._tmux("display-message", "-p", "#{pane_pid}").strip()
        children = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(children[0])

    def end(self) -> None:
        self._tmux("kill-server")
