"""The wire API `anthropic-vertex`: Anthropic's models on Google's Vertex AI, signed by the SDK (`anthropic_cloud`).

Signing in: Google's application default credentials (`gcloud auth application-default login`, or a file in
`GOOGLE_APPLICATION_CREDENTIALS`), or an access token as the provider's key. Where: `CLOUD_ML_REGION` and
`ANTHROPIC_VERTEX_PROJECT_ID`, or `compat = { region = "…", project = "…" }` of the provider, which weighs more.
`base_url`, or `ANTHROPIC_VERTEX_BASE_URL`, only for a place that is not Google's own.
"""

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from agentcli.agent.assistant_events import AssistantMessageEvent
from agentcli.agent.context import Context, StreamOptions
from agentcli.agent.errors import AuthError
from agentcli.agent.models import Model
from agentcli.providers.anthropic.cloud import Cloud, Place, signed_call
from agentcli.providers.anthropic.messages import _Answer
from agentcli.providers.http.clients import HttpClients
from agentcli.providers.http.post import stream_answer

if TYPE_CHECKING:
    import httpx2
    from anthropic.lib.vertex import AsyncAnthropicVertex


async def stream(
    model: Model, context: Context, options: StreamOptions, clients: HttpClients
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Ask the model; see `stream_client` for the contract."""
    call = await signed_call(CLOUD, model, context, options, clients)
    sending = msgspec.structs.replace(options, on_payload=None)  # it was asked before the request was signed
    try:
        async with aclosing(stream_answer(call, _Answer(model, context, options), sending, clients)) as events:
            async for event in events:
                yield event
    except AuthError as error:
        error.hint = f"check that you may use the model in this project and region; {CLOUD.sign_in}"
        raise


def _new_client(place: Place, connection: "httpx2.AsyncClient") -> "AsyncAnthropicVertex":
    # 0.7 to 2 s and 70 MB.
    from anthropic.lib.vertex import AsyncAnthropicVertex

    project = place.project or os.environ.get("ANTHROPIC_VERTEX_PROJECT_ID")
    if not project:
        raise ValueError("no project; set ANTHROPIC_VERTEX_PROJECT_ID, or `compat.project` of the provider")
    region = place.region or os.environ.get("CLOUD_ML_REGION")
    if not region:
        raise ValueError("no region; set CLOUD_ML_REGION, or `compat.region` of the provider")
    return AsyncAnthropicVertex(
        region=region,
        project_id=project,
        access_token=place.key,
        base_url=place.base_url,
        max_retries=0,
        open_telemetry=False,
        http_client=connection,
    )


CLOUD = Cloud(
    label="Vertex AI",
    extra="vertex",
    new_client=_new_client,
    libraries=("google.auth.transport.requests",),  # 40 ms
    sign_in="sign in with `gcloud auth application-default login`",
)
