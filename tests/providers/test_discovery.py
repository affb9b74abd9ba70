"""Discovery asks the servers of this machine, believes what they say of their models, and survives everything else."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentcli.agent.models import Model, Provider
from agentcli.providers.catalog.discovery import MAX_BYTES, discover, is_loopback


class FakeServer:
    """A loopback server with one answer for each path; what it was asked is in `asked`."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.talks: set[asyncio.Task[None]] = set()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None
        self.talks.add(talk)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                method, path, _ = head.split(" ", 2)
                length = next((int(line[15:]) for line in head.lower().splitlines() if "content-length:" in line), 0)
                body = await reader.readexactly(length)
                key = f"{path} {json.loads(body)['model']}" if body else path
                self.asked.append(f"{method} {key}")
                await self._answer(key, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    async def end(self) -> None:
        for talk in self.talks:
            talk.cancel()
        await asyncio.gather(*self.talks)

    async def _answer(self, key: str, writer: asyncio.StreamWriter) -> None:
        answer = self.answers.get(key)
        if answer == "silence":
            await asyncio.sleep(60)
        if isinstance(answer, str) and answer.startswith("HTTP/"):
            writer.write(answer.encode())
            return
        text = json.dumps(answer) if not isinstance(answer, bytes) else answer.decode("latin-1")
        status = "200 OK" if answer is not None else "404 Not Found"
        writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {len(text)}\r\n\r\n{text}".encode("latin-1"))


@asynccontextmanager
async def serving(server: FakeServer, name: str, path: str = "/v1") -> AsyncGenerator[Provider, None]:
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield Provider(name=name, base_url=f"http://127.0.0.1:{port}{path}", needs_key=False)
    finally:
        listening.close()
        await server.end()


async def found(answers: dict[str, Any], name: str = "vllm", **options: Any) -> list[Model]:
    async with serving(FakeServer(answers), name) as provider:
        return await discover(servers=[provider], **options)


def the_list(*ids: str, **fields: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": id, "object": "model", **fields} for id in ids]}


async def test_every_model_of_a_server_that_answers_is_found_with_its_url() -> None:
    async with serving(FakeServer({"/v1/models": the_list("a", "b/c:8b")}), "vllm") as provider:
        models = await discover(servers=[provider])
        assert [model.full_id for model in models] == ["vllm/a", "vllm/b/c:8b"]
        assert {model.base_url for model in models} == {provider.base_url}


async def test_vllm_says_its_window() -> None:
    (model,) = await found({"/v1/models": the_list("a", max_model_len=40_960)})
    assert (model.context_window, model.max_tokens) == (40_960, 16_384)


async def test_a_small_window_bounds_the_answer_too() -> None:
    (model,) = await found({"/v1/models": the_list("a", max_model_len=2048)})
    assert (model.context_window, model.max_tokens) == (2048, 2048)


async def test_a_server_that_says_no_window_gets_the_usual_one() -> None:
    (model,) = await found({"/v1/models": the_list("a")})
    assert model.context_window == 128_000


async def test_llamacpp_says_the_window_of_a_slot_and_whether_the_model_thinks() -> None:
    answers = {
        "/v1/models": the_list("a", meta={"n_ctx_train": 131_072}),
        "/props": {
            "default_generation_settings": {"n_ctx": 8192},
            "modalities": {"vision": True},
            "chat_template": "{% if enable_thinking %}",
        },
    }
    (model,) = await found(answers, "llamacpp")
    assert (model.context_window, model.input, model.reasoning) == (8192, ["text", "image"], True)


async def test_llamacpp_without_properties_still_has_what_its_list_says() -> None:
    (model,) = await found({"/v1/models": the_list("a", meta={"n_ctx": 4096, "n_ctx_train": 8192})}, "llamacpp")
    assert model.context_window == 4096


async def test_lm_studio_says_which_models_chat_and_see() -> None:
    details = {
        "data": [
            {"id": "chats", "type": "llm", "max_context_length": 32_768, "loaded_context_length": 4096},
            {"id": "sees", "type": "vlm", "max_context_length": 8192},
            {"id": "embeds", "type": "embeddings", "max_context_length": 512},
        ]
    }
    answers = {"/v1/models": the_list("chats", "sees", "embeds"), "/api/v0/models": details}
    models = {model.id: model for model in await found(answers, "lmstudio")}
    assert set(models) == {"chats", "sees"}
    assert (models["chats"].context_window, models["sees"].context_window) == (4096, 8192)
    assert models["sees"].input == ["text", "image"]


@pytest.mark.parametrize(
    ("running", "parameters", "window"),
    [
        ([{"name": "qwen3:8b", "context_length": 16_384}], "num_ctx 8192", 16_384),
        ([], 'stop "x"\nnum_ctx                        8192', 8192),
        ([], "", 40_960),
    ],
    ids=["as it is loaded", "as its file sets it", "as it was trained"],
)
async def test_ollama_says_the_window_that_a_model_has(running: Any, parameters: str, window: int) -> None:
    shown = {
        "capabilities": ["completion", "tools", "thinking"],
        "parameters": parameters,
        "model_info": {"qwen3.context_length": 40_960, "general.architecture": "qwen3"},
    }
    answers = {
        "/v1/models": the_list("qwen3:8b"),
        "/api/ps": {"models": running},
        "/api/show qwen3:8b": shown,
    }
    (model,) = await found(answers, "ollama")
    assert (model.context_window, model.reasoning) == (window, True)
    assert model.thinking_levels["off"] == "none"


async def test_ollamas_embedding_models_are_left_out() -> None:
    answers = {"/v1/models": the_list("bge", "old"), "/api/show bge": {"capabilities": ["embedding"]}}
    assert [model.id for model in await found(answers, "ollama")] == ["old"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(None, id="not found"),
        pytest.param(b"<html>not this</html>", id="a page"),
        pytest.param(b"[1, 2]", id="a list"),
        pytest.param(b"{}", id="nothing in it"),
        pytest.param(b'{"data": [{"name": "no id"}]}', id="no id"),
        pytest.param(b'{"data": "a"}', id="no list"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"[" * 100_000, id="too deep"),
        pytest.param(b" " * (MAX_BYTES + 1), id="too long"),
        pytest.param(
            "HTTP/1.1 302 Found\r\nlocation: http://192.0.2.1/v1/models\r\ncontent-length: 0\r\n\r\n", id="a redirect"
        ),
        pytest.param('HTTP/1.1 500 Oh\r\ncontent-length: 24\r\n\r\n{"data": [{"id": "a"}]}\n', id="an error"),
        pytest.param("HTTP/9 what\r\n\r\n", id="no HTTP"),
    ],
)
async def test_what_is_no_list_of_models_is_no_server(answer: Any) -> None:
    assert await found({"/v1/models": answer}, timeout_s=5) == []


async def test_a_server_that_says_nothing_holds_nobody_up() -> None:
    silent = FakeServer({"/v1/models": "silence"})
    async with serving(silent, "ollama") as first, serving(FakeServer({"/v1/models": the_list("a")}), "vllm") as second:
        models = await asyncio.wait_for(discover(0.3, servers=[first, second]), timeout=10)
    assert [model.full_id for model in models] == ["vllm/a"]
    assert silent.asked == ["GET /v1/models"]


async def test_a_server_that_keeps_details_to_itself_still_has_its_models() -> None:
    answers = {"/v1/models": the_list("a"), "/api/ps": "silence", "/api/show a": "silence"}
    assert [model.id for model in await found(answers, "ollama", timeout_s=0.5)] == ["a"]


async def test_nothing_listens() -> None:
    assert await discover(servers=[Provider(name="vllm", base_url="http://127.0.0.1:1/v1")]) == []


async def test_only_loopback_is_asked_and_past_any_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = FakeServer({})
    async with (
        serving(proxy, "proxy", path="") as listening,
        serving(FakeServer({"/v1/models": the_list("a")}), "vllm") as local,
    ):
        for variable in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(variable, listening.base_url)
        elsewhere = Provider(name="ollama", base_url="http://192.0.2.1:11434/v1")
        assert [model.full_id for model in await discover(servers=[elsewhere, local])] == ["vllm/a"]
    assert proxy.asked == []


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://localhost:1234", True),
        ("http://[::1]:8080/v1", True),
        ("http://127.0.0.1.example.com/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://user@192.168.1.5/v1", False),
        ("http://127.0.0.1@192.0.2.1/v1", False),
        ("http://0.0.0.0:8000/v1", False),
        ("https://127.0.0.1/v1", False),
        ("127.0.0.1:8000", False),
        ("http://[bad", False),
        ("", False),
    ],
)
def test_loopback_is_told_by_the_host_that_is_really_asked(url: str, is_local: bool) -> None:
    assert is_loopback(url) is is_local
