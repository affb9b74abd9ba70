"""A running model server for the tests, and what can be asked of it beside the wire APIs."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from agentcli.agent.models import Model
from tests.realmodel.install import LocalModel

API_KEY = "local-key-of-the-tests"
SLOTS = 2
START_S = 120.0

BASE_URLS = {"openai-completions": "/v1", "openai-responses": "/v1", "anthropic-messages": ""}
"""The wire APIs that the server speaks, and where."""


@dataclass
class Server:
    """`with Server(python, model, file, log): …` runs it for as long as the block.

    Args:
        python: the Python that has the engine.
        file: the model's file.
        log: where the server's own words go.
        template: a chat template in place of the model's own.
    """

    python: Path
    model: LocalModel
    file: Path
    log: Path
    template: Path | None = None
    url: str = ""

    def __enter__(self) -> "Server":
        script = Path(__file__).with_name("serve.py")
        arguments = [self.file, self.model.name, str(self.model.context), str(SLOTS), API_KEY, self.template or ""]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [self.python, script, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        assert self._process.stdout
        # Ends with the process too, and then there is no line.
        self.url = self._process.stdout.readline().decode().strip()
        deadline = time.monotonic() + START_S
        while not (self.url and self._is_healthy()):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                raise RuntimeError(f"the model server did not start: {self.log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def as_model(self, api: str, **fields: Any) -> Model:
        """The model as agentcli is told of it."""
        window = self.model.context // SLOTS
        return Model(
            id=self.model.name,
            api=api,
            provider="llamacpp",
            base_url=self.url + BASE_URLS[api],
            context_window=window,
            max_tokens=window,
            **fields,
        )

    def busy_slots(self) -> int:
        """How many requests are being worked on."""
        return sum(slot["is_processing"] for slot in self._get("/slots"))

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Whether every slot was free within so many seconds."""
        deadline = time.monotonic() + timeout_s
        while self.busy_slots():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def _is_healthy(self) -> bool:
        try:
            return self._get("/health")["status"] == "ok"
        except (urllib.error.URLError, ConnectionError):
            return False

    def _get(self, path: str) -> Any:
        request = urllib.request.Request(self.url + path, headers={"authorization": f"Bearer {API_KEY}"})
        # No proxy: this is loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            return json.load(answer)
