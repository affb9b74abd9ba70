"""The floor: the least that an agent on httpx does. It sends one prompt, streams the answer, runs the tools it is told to."""

import asyncio
import json
import sys

# As in an environment that holds httpx alone: its command-line tool would import rich and click if they are there.
sys.modules["httpx._main"] = None  # type: ignore[assignment]
import httpx  # noqa: E402


def tool(name: str, argument: str) -> dict[str, object]:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


TOOLS = [tool("bash", "command"), tool("read", "path")]


async def run_tool(name: str, arguments: dict[str, str]) -> str:
    if name == "read":
        with open(arguments["path"]) as file:  # noqa: PTH123
            return file.read()
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "/bin/bash",
        "-c",
        arguments["command"],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return output.decode() or "(no output)"


async def answer(client: httpx.AsyncClient, url: str, messages: list[dict[str, object]]) -> list[dict[str, str]]:
    """Stream one answer to stdout; the calls in it."""
    calls: list[dict[str, str]] = []
    body = {"model": "fake", "stream": True, "messages": messages, "tools": TOOLS}
    async with client.stream("POST", url, json=body) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data: {"):
                continue
            for choice in json.loads(line[6:])["choices"]:
                delta = choice["delta"]
                if piece := delta.get("content"):
                    sys.stdout.write(piece)
                    sys.stdout.flush()
                for part in delta.get("tool_calls") or ():
                    function = part["function"]
                    if part.get("id"):
                        calls.append({"id": part["id"], "name": function["name"], "arguments": ""})
                    calls[part["index"]]["arguments"] += function.get("arguments") or ""
    return calls


async def main(url: str, prompt: str) -> None:
    messages: list[dict[str, object]] = [{"role": "user", "content": prompt}]
    async with httpx.AsyncClient(timeout=60, trust_env=False, verify=False) as client:
        while calls := await answer(client, url, messages):
            shown = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for call in calls
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": shown})
            for call in calls:
                result = await run_tool(call["name"], json.loads(call["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    print()


asyncio.run(main(sys.argv[1], sys.argv[2]))
