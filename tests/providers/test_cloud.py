"""Models on Bedrock, Vertex AI and Azure: where their requests go, how they are signed, and what answers become."""

import asyncio
import base64
import json
import struct
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from agentcli.agent.context import StreamOptions
from agentcli.agent.errors import (
    AuthError,
    BadRequestError,
    BadResponseError,
    ConfigError,
    ContextOverflowError,
    CredentialsError,
    ModelNotFoundError,
    NetworkError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    RefusedError,
)
from agentcli.agent.messages import AssistantMessage, StopReason, TextContent, ToolCall, text_of, user_message
from agentcli.agent.models import Model
from agentcli.providers.stream_client import StreamClient
from tests.fake_server import Call, FakeServer, Reply
from tests.fake_server.formats import events_of as messages_of
from tests.fake_server.server import Request
from tests.providers.support import MESSAGE, STOP, ask, block, context_of, events_of, model_of, tool_of
from tests.waiting import until

CLOUDS = ("anthropic-bedrock", "anthropic-vertex")
BINARY = {"content-type": "application/vnd.amazon.eventstream"}
ARN = "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-v1:0"
LIBRARIES = {
    "anthropic-bedrock": ("anthropic.lib.bedrock", "httpx2", "boto3", "botocore.eventstream"),
    "anthropic-vertex": ("anthropic.lib.vertex", "httpx2", "google.auth.transport.requests"),
}
SECRET = "secret+access/key"


@pytest.fixture(autouse=True)
def _signed_in_to_nothing_but_what_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from anthropic.lib.aws import _auth

    _auth._get_session.cache_clear()  # the SDK remembers the keys of one test for the next
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    for name in ("CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


def cloud_model(api: str, server: FakeServer, **fields: Any) -> Model:
    return model_of(api, server.url, **({"compat": {"region": "eu-west-1", "project": "my-project"}} | fields))


def key_for(api: str) -> dict[str, Any]:
    """What signs a request on loopback: a token for Vertex; the keys in the environment for Bedrock."""
    return {"api_key": "ya29.access-token"} if api == "anthropic-vertex" else {}


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    """A message of AWS's event stream."""
    head = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    start = struct.pack("!II", len(head) + len(payload) + 16, len(head))
    whole = start + struct.pack("!I", crc32(start)) + head + payload
    return whole + struct.pack("!I", crc32(whole))


def chunk(event: Any) -> bytes:
    """An event of the Messages API as Bedrock sends it, padded."""
    payload = {"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abcdefgh"}
    headers = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, json.dumps(payload).encode())


def failure(name: str, message: str) -> bytes:
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, json.dumps({"message": message}).encode())


def cloud_reply(api: str, parts: Iterable[dict[str, Any]], **how: Any) -> Reply:
    """An answer of these events, as the cloud sends them."""
    if api == "anthropic-bedrock":
        return Reply.raw(b"".join(map(chunk, parts)), headers=BINARY, **how)
    return Reply.raw(b"".join(b"data: " + json.dumps(part).encode() + b"\n\n" for part in parts), **how)


def scripted(*blocks: Any, **how: Any) -> list[dict[str, Any]]:
    """The events of an answer of the Messages API."""
    raw = messages_of("/v1/messages", Reply.of(*blocks, **how), "model-a", 1)
    return [json.loads(event.partition(b"data: ")[2]) for event in raw]


def text_events(text: str) -> list[dict[str, Any]]:
    return [MESSAGE, *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": text}), STOP]


def is_signed(request: Request, server: FakeServer, token: str = "") -> bool:
    """Whether the signature is that of the bytes and headers that have come, by AWS's own library."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    parts = dict(part.split("=", 1) for part in request.headers["authorization"].split(" ", 1)[1].split(", "))
    region = parts["Credential"].split("/")[2]
    headers = {name: request.headers[name] for name in parts["SignedHeaders"].split(";")}
    copy = AWSRequest("POST", server.url + request.path, headers, request.raw)
    copy.context["timestamp"] = request.headers["x-amz-date"]
    auth = SigV4Auth(Credentials("AKIDEXAMPLE", SECRET, token or None), "bedrock", region)
    return auth.signature(auth.string_to_sign(copy, auth.canonical_request(copy)), copy) == parts["Signature"]


async def cloud_failure(api: str, reply: Reply, **options: Any) -> ProviderError:
    async with FakeServer() as server:
        server.answer(reply)
        client = StreamClient()
        with pytest.raises(ProviderError) as raised:
            await events_of(client, cloud_model(api, server), **key_for(api), **options)
        await client.aclose()
    return raised.value


async def cloud_answer(api: str, reply: Reply, **options: Any) -> tuple[AssistantMessage, Request]:
    async with FakeServer() as server:
        server.answer(reply)
        client = StreamClient()
        context = context_of(tools=[tool_of("read")])
        message = await ask(client, cloud_model(api, server), context, **key_for(api), **options)
        await client.aclose()
    return message, server.requests[0]


@pytest.mark.parametrize("size", [None, 1, 7, 1000])
@pytest.mark.parametrize("api", CLOUDS)
async def test_text_and_a_call_arrive_however_the_answer_is_cut_into_pieces(api: str, size: int | None) -> None:
    parts = scripted("Let me see … 🙂", Call("read", {"path": "a.py"}, "toolu_1"))
    message, request = await cloud_answer(api, cloud_reply(api, parts, chunk=size))
    assert message.content == [TextContent("Let me see … 🙂"), ToolCall("toolu_1", "read", {"path": "a.py"})]
    assert message.stop_reason is StopReason.TOOL_CALLS
    assert (message.usage.input, message.usage.output) == (100, 7)
    assert message.api == api
    assert request.body["tools"][0]["name"] == "read"
    assert request.body["messages"][0]["content"][0]["text"] == "hi"
    assert "anthropic_version" in request.body
    assert "model" not in request.body


async def test_the_sdk_reads_bedrocks_answer_as_we_do() -> None:
    from anthropic import AsyncAnthropicBedrock

    parts = scripted("Let me see", Call("read", {"path": "a.py"}, "toolu_1"))
    ours, _ = await cloud_answer("anthropic-bedrock", cloud_reply("anthropic-bedrock", parts))
    async with FakeServer() as server:
        server.answer(cloud_reply("anthropic-bedrock", parts))
        sdk = AsyncAnthropicBedrock(aws_region="eu-west-1", base_url=server.url, max_retries=0)
        async with sdk, sdk.messages.stream(model="a", max_tokens=9, messages=[{"role": "user", "content": "hi"}]) as s:
            theirs = await s.get_final_message()
    assert text_of(ours.content) == theirs.content[0].text
    assert ours.tool_calls[0].arguments == theirs.content[1].input


@pytest.mark.parametrize(
    "text",
    ["hi", "ünï 🙂 \u2028 </>&\\", "nul \0 and half a pair \ud83d"],
    ids=["plain", "many scripts", "what no server takes"],
)
@pytest.mark.parametrize("id", ["eu.anthropic.claude-v1:0", ARN], ids=["name", "arn"])
async def test_what_reaches_bedrock_is_what_was_signed(
    id: str, text: str, fake_cloud: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session/token==")
    fake_cloud.answer(cloud_reply("anthropic-bedrock", text_events("yes")))
    client = StreamClient()
    model = cloud_model("anthropic-bedrock", fake_cloud, id=id, headers={"X-Team": "blue  green"})
    await ask(client, model, context_of(user_message(text)), headers={"x-trace": "7"})
    request = fake_cloud.requests[0]
    assert request.path == f"/model/{id.replace('/', '%2F')}/invoke-with-response-stream"
    assert request.headers["x-team"] == "blue  green"
    assert "x-trace" in request.headers["authorization"]
    assert request.headers["x-amz-security-token"] == "session/token=="
    assert is_signed(request, fake_cloud, "session/token==")
    assert "\0" not in json.loads(request.raw)["messages"][0]["content"][0]["text"]
    await client.aclose()


@pytest.fixture
async def fake_cloud():
    async with FakeServer() as server:
        yield server


async def test_vertex_is_asked_for_the_model_in_project_and_region(fake_cloud: FakeServer) -> None:
    fake_cloud.answer(cloud_reply("anthropic-vertex", text_events("yes")))
    client = StreamClient()
    model = cloud_model("anthropic-vertex", fake_cloud, id="claude-opus-5-5@20261001")
    await ask(client, model, api_key="ya29.access-token")
    request = fake_cloud.requests[0]
    place = "/projects/my-project/locations/eu-west-1/publishers/anthropic/models"
    assert request.path == f"{place}/claude-opus-5-5@20261001:streamRawPredict"
    assert request.headers["authorization"] == "Bearer ya29.access-token"
    assert request.body["stream"] is True
    await client.aclose()


async def test_region_and_project_may_come_from_the_environment(
    fake_cloud: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv("CLOUD_ML_REGION", "us-east5")
    monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "theirs")
    client = StreamClient()
    for api in CLOUDS:
        fake_cloud.answer(cloud_reply(api, text_events("yes")))
        await ask(client, cloud_model(api, fake_cloud, compat={}), **key_for(api))
    bedrock, vertex = fake_cloud.requests
    assert "/us-west-2/bedrock/" in bedrock.headers["authorization"]
    assert vertex.path.startswith("/projects/theirs/locations/us-east5/")
    await client.aclose()


async def test_region_and_keys_may_come_from_a_profile(
    fake_cloud: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path
):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    (tmp_path / "aws").write_text(
        f"[profile work]\nregion = ap-south-1\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = {SECRET}\n"
    )
    fake_cloud.answer(cloud_reply("anthropic-bedrock", text_events("yes")))
    client = StreamClient()
    await ask(client, cloud_model("anthropic-bedrock", fake_cloud, compat={"profile": "work"}))
    assert "/ap-south-1/bedrock/" in fake_cloud.requests[0].headers["authorization"]
    assert is_signed(fake_cloud.requests[0], fake_cloud)
    await client.aclose()


async def test_a_key_of_bedrock_is_sent_in_place_of_a_signature(fake_cloud: FakeServer) -> None:
    fake_cloud.answer(cloud_reply("anthropic-bedrock", text_events("yes")))
    client = StreamClient()
    await ask(client, cloud_model("anthropic-bedrock", fake_cloud), api_key="bedrock-api-key-1")
    assert fake_cloud.requests[0].headers["authorization"] == "Bearer bedrock-api-key-1"
    await client.aclose()


async def test_google_is_asked_for_a_token_once_for_two_turns(
    fake_cloud: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, f"{fake_cloud.url}/token")))
    client = StreamClient()
    fake_cloud.answer(Reply.error(200, {"access_token": "minted", "expires_in": 3600, "token_type": "Bearer"}))
    for _ in range(2):
        fake_cloud.answer(cloud_reply("anthropic-vertex", text_events("yes")))
        await ask(client, cloud_model("anthropic-vertex", fake_cloud))
    assert [request.path.rpartition(":")[2] for request in fake_cloud.requests] == [
        "/token",
        "streamRawPredict",
        "streamRawPredict",
    ]
    assert fake_cloud.requests[2].headers["authorization"] == "Bearer minted"
    await client.aclose()


async def test_a_refused_sign_in_says_how_to_sign_in(
    fake_cloud: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, f"{fake_cloud.url}/token")))
    fake_cloud.answer(Reply.error(400, {"error": "invalid_grant", "error_description": "Bad Request"}))
    with pytest.raises(CredentialsError, match=r"invalid_grant.*gcloud auth application-default login"):
        await ask(StreamClient(), cloud_model("anthropic-vertex", fake_cloud))


async def test_a_sign_in_that_nobody_answers_is_an_error_of_the_network(
    fake_cloud: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(service_account(tmp_path, "http://127.0.0.1:9/token")))
    with pytest.raises(NetworkError) as raised:
        await ask(StreamClient(), cloud_model("anthropic-vertex", fake_cloud))
    assert raised.value.retryable


@pytest.mark.parametrize("id", ["", "..", "../../x"])
@pytest.mark.parametrize("api", CLOUDS)
async def test_a_name_that_is_no_models_reaches_no_other_place(api: str, id: str, fake_cloud: FakeServer) -> None:
    client = StreamClient()
    with pytest.raises((ConfigError, BadRequestError)):
        await ask(client, cloud_model(api, fake_cloud, id=id), **key_for(api))
    assert all("/x" not in request.path for request in fake_cloud.requests)
    await client.aclose()


def service_account(folder: Path, token_uri: str) -> Path:
    """The file of an account that nobody knows."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {"type": "service_account", "client_email": "a@b.c", "token_uri": token_uri, "private_key": key.decode()}
    path = folder / "account.json"
    path.write_text(json.dumps(account))
    return path


ERRORS: dict[str, tuple[int, str, Any, type[ProviderError]]] = {
    "no access": (403, "AccessDeniedException", {"message": "You don't have access to the model"}, AuthError),
    "old sign-in": (403, "ExpiredTokenException:http://internal", {"message": "The token has expired"}, AuthError),
    "no such model": (
        400,
        "ValidationException",
        {"message": "The provided model identifier is invalid."},
        ModelNotFoundError,
    ),
    "too long": (
        400,
        "ValidationException",
        {"message": "Input is too long for requested model."},
        ContextOverflowError,
    ),
    "bad request": (400, "ValidationException", {"message": "messages.1: roles must alternate"}, BadRequestError),
    "throttled": (429, "ThrottlingException", {"message": "Too many tokens, please wait"}, RateLimitError),
    "throttled, said with 400": (400, "ThrottlingException", {"message": "Rate exceeded"}, RateLimitError),
    "busy": (503, "ServiceUnavailableException", {"message": "Bedrock is unable to process"}, OverloadedError),
    "a capital letter": (403, "UnrecognizedClientException", {"Message": "The security token is invalid"}, AuthError),
    "no JSON": (502, "", b"<html><title>Bad Gateway</title></html>", OverloadedError),
    "a list": (400, "", [{"message": "odd"}], BadRequestError),
    "nothing": (404, "", b"", BadRequestError),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_an_error_of_bedrock_says_what_it_is(name: str) -> None:
    status, kind, body, expected = ERRORS[name]
    headers = {"x-amzn-errortype": kind} if kind else {}
    error = await cloud_failure("anthropic-bedrock", Reply.error(status, body, headers=headers))
    assert type(error) is expected
    assert error.status == status
    if isinstance(body, dict):
        assert next(iter(body.values())) in error.message
    if expected is AuthError:
        assert "aws sso login" in error.hint
        assert "no key" not in error.hint


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, [{"error": {"code": 401, "message": "invalid credentials", "status": "UNAUTHENTICATED"}}], AuthError),
        (403, {"error": {"code": 403, "message": "no permission", "status": "PERMISSION_DENIED"}}, AuthError),
        (429, {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"}}, RateLimitError),
        (
            400,
            {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}},
            ContextOverflowError,
        ),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, OverloadedError),
    ],
)
async def test_an_error_of_vertex_says_what_it_is(status: int, body: Any, expected: type[ProviderError]) -> None:
    error = await cloud_failure("anthropic-vertex", Reply.error(status, body))
    assert type(error) is expected
    if expected is AuthError:
        assert "gcloud auth" in error.hint
        assert "no key" not in error.hint


@pytest.mark.parametrize("api", CLOUDS)
async def test_no_request_is_made_twice(api: str) -> None:
    async with FakeServer() as server:
        for _ in range(2):
            server.answer(Reply.error(503, {"message": "busy"}, headers={"retry-after": "0"}))
        client = StreamClient()
        with pytest.raises(OverloadedError):
            await events_of(client, cloud_model(api, server), **key_for(api))
        await client.aclose()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("throttlingException", RateLimitError),
        ("serviceUnavailableException", OverloadedError),
        ("internalServerException", OverloadedError),
        ("modelStreamErrorException", OverloadedError),
        ("validationException", BadRequestError),
    ],
)
async def test_an_exception_amid_bedrocks_answer_comes_after_what_was_said(
    name: str, expected: type[ProviderError]
) -> None:
    said = b"".join(map(chunk, text_events("half an ans")[:-2]))
    async with FakeServer() as server:
        server.answer(Reply.raw(said + failure(name, "it broke"), headers=BINARY))
        client = StreamClient()
        stream = client(cloud_model("anthropic-bedrock", server), context_of(), StreamOptions())
        seen: list[Any] = []
        with pytest.raises(expected, match="it broke"):
            async for event in stream:
                seen.append(event)
        await client.aclose()
    assert [event.delta for event in seen if hasattr(event, "delta")] == ["half an ans"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (chunk(MESSAGE)[:-3] + b"xyz", BadResponseError),
        (b"event: message_start\ndata: {}\n\n" * 20, BadResponseError),
        (frame({":event-type": "chunk", ":message-type": "event"}, b'{"bytes": "%%%"}'), BadResponseError),
        (frame({":event-type": "chunk", ":message-type": "event"}, b"no JSON"), BadResponseError),
        (frame({":event-type": "chunk", ":message-type": "event"}, b"\xff\xfe"), BadResponseError),
        (failure("throttlingException", "slow")[:-1] + b"?", BadResponseError),
        (frame({":message-type": "exception", ":exception-type": "odd"}, b"\xff"), OverloadedError),
        (frame({":message-type": "error", ":error-code": "ThrottlingException"}, b""), RateLimitError),
        (frame({":message-type": "event", ":event-type": "new"}, b"{}"), BadResponseError),
        (b"".join(map(chunk, text_events("cut")[:-1])), BadResponseError),
        (b"", BadResponseError),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else f"{len(value)} bytes",
)
async def test_what_is_no_whole_answer_of_bedrock_is_an_error(body: bytes, expected: type[ProviderError]) -> None:
    assert type(await cloud_failure("anthropic-bedrock", Reply.raw(body, headers=BINARY))) is expected


async def test_a_web_page_in_place_of_bedrocks_answer_is_named() -> None:
    reply = Reply.raw("<html>sign in to the wifi</html>", headers={"content-type": "text/html"})
    assert "web page" in str(await cloud_failure("anthropic-bedrock", reply))


@pytest.mark.parametrize("api", CLOUDS)
async def test_a_connection_that_breaks_is_an_error_of_the_network(api: str) -> None:
    assert isinstance(await cloud_failure(api, cloud_reply(api, text_events("x"), cut=150, reset=True)), NetworkError)


@pytest.mark.parametrize("api", CLOUDS)
async def test_a_refusal_is_an_error(api: str) -> None:
    refusal = {
        "type": "message_delta",
        "delta": {"stop_reason": "refusal", "stop_details": {"explanation": "I will not"}},
    }
    assert isinstance(await cloud_failure(api, cloud_reply(api, [MESSAGE, refusal, STOP])), RefusedError)


@pytest.mark.parametrize("api", CLOUDS)
async def test_an_abort_closes_the_connection_at_once(api: str) -> None:
    async with FakeServer() as server:
        server.answer(cloud_reply(api, text_events("begun")[:-2], hold=60))
        client = StreamClient()
        spoke = asyncio.Event()

        async def listen() -> None:
            async for event in client(cloud_model(api, server), context_of(), StreamOptions(**key_for(api))):
                if hasattr(event, "delta"):
                    spoke.set()

        task = asyncio.create_task(listen())
        await asyncio.wait_for(spoke.wait(), 20)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await until(lambda: server.requests[0].cancelled)
        await client.aclose()


@pytest.mark.parametrize("api", CLOUDS)
async def test_a_connection_serves_the_next_turn_too(api: str) -> None:
    async with FakeServer() as server:
        client = StreamClient()
        for _ in range(2):
            server.answer(cloud_reply(api, text_events("yes")))
            await ask(client, cloud_model(api, server), **key_for(api))
        await client.aclose()
    assert [request.connection for request in server.requests] == [1, 1]


@pytest.mark.parametrize("api", CLOUDS)
async def test_hooks_see_the_body_before_it_is_signed_and_the_status(api: str) -> None:
    seen: list[Any] = []

    def changed(body: dict[str, Any]) -> dict[str, Any]:
        seen.append(body["max_tokens"])
        return {**body, "max_tokens": 17}

    reply = cloud_reply(api, text_events("yes"))
    _, request = await cloud_answer(
        api, reply, on_payload=changed, on_response=lambda told: seen.append(told["status"])
    )
    assert request.body["max_tokens"] == 17
    assert len(seen) == 2
    assert seen[1] == 200


@pytest.mark.parametrize(("api", "module"), [(api, name) for api in CLOUDS for name in LIBRARIES[api]])
async def test_without_the_library_the_error_says_what_to_install(
    api: str, module: str, fake_cloud: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError) as raised:
        await ask(StreamClient(), cloud_model(api, fake_cloud), **key_for(api))
    assert raised.value.hint == f"pip install 'agentcli[{api.removeprefix('anthropic-')}]'"
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("api", "compat", "named"),
    [
        ("anthropic-bedrock", {}, "region"),
        ("anthropic-bedrock", {"region": 3}, "compat.region"),
        ("anthropic-bedrock", {"region": " "}, "compat.region"),
        ("anthropic-vertex", {}, "ANTHROPIC_VERTEX_PROJECT_ID"),
        ("anthropic-vertex", {"project": "p"}, "CLOUD_ML_REGION"),
    ],
)
async def test_a_place_that_is_missing_is_named(
    api: str, compat: dict[str, Any], named: str, fake_cloud: FakeServer
) -> None:
    with pytest.raises(ConfigError, match=named) as raised:
        await ask(StreamClient(), cloud_model(api, fake_cloud, compat=compat), **key_for(api))
    assert "\n" not in str(raised.value)
    assert not fake_cloud.requests


async def test_who_is_not_signed_in_is_told_how(fake_cloud: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    for api, command in (("anthropic-bedrock", "aws sso login"), ("anthropic-vertex", "gcloud auth")):
        with pytest.raises(CredentialsError, match=command):
            await ask(StreamClient(), cloud_model(api, fake_cloud))
    with pytest.raises(CredentialsError, match=r"nobody.*could not be found"):
        compat = {"profile": "nobody", "region": "eu-west-1"}
        await ask(StreamClient(), cloud_model("anthropic-bedrock", fake_cloud, compat=compat))
    assert not fake_cloud.requests


@pytest.mark.parametrize("api", CLOUDS)
async def test_no_error_shows_the_key_that_a_server_echoes(api: str, fake_cloud: FakeServer) -> None:
    fake_cloud.answer(Reply.error(403, {"message": "bad key secret-key-0123456789"}))
    client = StreamClient()
    with pytest.raises(AuthError) as raised:
        await ask(client, cloud_model(api, fake_cloud), api_key="secret-key-0123456789")
    assert "0123456789" not in str(raised.value)
    await client.aclose()


def test_no_cloud_library_is_imported_before_such_a_model_is_asked() -> None:
    program = """
import sys
from agentcli.agent.models import Model
from agentcli.providers.stream_client import WIRE_APIS, StreamClient
client = StreamClient()
for api in WIRE_APIS:
    client.prepare(Model(id="m", api=api, provider="p", base_url="http://127.0.0.1:9"))
found = {name.partition(".")[0] for name in sys.modules} & {"anthropic", "openai", "httpx2", "boto3", "botocore", "google"}
sys.exit(", ".join(sorted(found)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("api", "base_url", "path"),
    [
        ("openai-responses", "/openai/v1", "/openai/v1/responses"),
        ("openai-completions", "/openai/v1/", "/openai/v1/chat/completions"),
        ("openai-responses", "/openai/v1/responses?api-version=preview", "/openai/v1/responses?api-version=preview"),
        (
            "openai-completions",
            "/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
            "/openai/deployments/gpt/chat/completions?api-version=2024-10-21",
        ),
    ],
)
async def test_azure_takes_the_bodies_of_openai_with_its_own_header_or_a_token(
    api: str, base_url: str, path: str
) -> None:
    async with FakeServer() as server:
        client = StreamClient()
        for auth in ("api-key", "bearer"):
            server.answer("from Azure")
            model = model_of(api, server.url + base_url, id="my-deployment", compat={"auth": auth})
            assert text_of((await ask(client, model, api_key="azure-key-1")).content) == "from Azure"
        await client.aclose()
    keyed, signed_in = server.requests
    assert keyed.path == signed_in.path == path
    assert keyed.body["model"] == "my-deployment"
    assert keyed.headers["api-key"] == "azure-key-1"
    assert "authorization" not in keyed.headers
    assert signed_in.headers["authorization"] == "Bearer azure-key-1"
    assert "api-key" not in signed_in.headers
