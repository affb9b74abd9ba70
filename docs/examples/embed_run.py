"""What `agentcli run` does, in ten lines: settings, session, tools, permissions, and the answer as it streams."""

import asyncio
import sys

from agentcli import Runtime, RuntimeOptions, load_configuration
from agentcli.agent.assistant_events import TextDeltaEvent
from agentcli.agent.events import MessageUpdateEvent


def show(event, signal):
    match event:
        case MessageUpdateEvent(assistant_message_event=TextDeltaEvent(delta=delta)):
            print(delta, end="", flush=True)


async def main(prompt):
    runtime = Runtime.create(RuntimeOptions(load=load_configuration))
    runtime.subscribe(show)
    await runtime.prompt(prompt)
    if (last := runtime.last_message) and last.error_message:
        print(last.error_message)
    await runtime.close()


asyncio.run(main(sys.argv[1]))
