"""An extension with a provider: `--model parrot/grey` says again what it was told, without any server."""

from agentcli.agent.messages import StopReason, text_of
from agentcli.agent.models import Model, Provider
from agentcli.agent.partial import PartialMessage


async def stream(model, context, options):
    answer = PartialMessage(model)
    yield answer.start()
    for event in answer.text(text_of(context.messages[-1].content)):
        yield event
    for event in answer.done(StopReason.DONE):
        yield event


def register(api):
    api.add_provider(
        Provider(name="parrot", label="Parrot", api="parrot", needs_key=False),
        stream,
        models=[Model(id="grey", name="Grey parrot", api="parrot", provider="parrot")],
    )
