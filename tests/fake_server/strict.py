"""What the real APIs refuse in a request body, as far as a client can get it wrong; the refusal's words are our own.

Model names make a server special: `text-only` takes no images, `mistral` wants nine-character call ids, and
`needs-reasoning` wants its `reasoning_content` back. Signatures hold only for the model that they were issued to.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

Json = dict[str, Any]

ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")


class Refused(Exception):
    """Why a body is refused."""


def refusal_of(path: str, body: Any) -> str:
    """Why the API at this path refuses the body; empty if it takes it."""
    try:
        _check(isinstance(body, dict), "the body is no JSON object")
        _check(isinstance(body.get("model"), str) and body["model"], "model is missing")
        for text in _strings(body):
            _check("\0" not in text, "NUL in the body")
            _check(not any(0xD800 <= ord(character) <= 0xDFFF for character in text), "a lone surrogate in the body")
        if path.endswith("/messages"):
            _Messages(body).check()
        elif path.endswith("/responses"):
            _Responses(body).check()
        else:
            _Chat(body).check()
    except Refused as refused:
        return str(refused)
    return ""


def _check(holds: object, problem: str) -> None:
    if not holds:
        raise Refused(problem)


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, item in value.items():
                yield key
                yield from _strings(item)
        case list():
            for item in value:
                yield from _strings(item)
        case _:
            pass


def _is_blank(text: Any) -> bool:
    return not isinstance(text, str) or not text.strip()


def _is_object(text: Any) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, TypeError):
        return False


def _check_tools(names: list[Any], schemas: list[Any]) -> None:
    _check(len(set(names)) == len(names), "tools: names are not unique")
    for name, schema in zip(names, schemas, strict=True):
        _check(isinstance(name, str) and NAME.fullmatch(name), f"tools: name {name!r}")
        _check(isinstance(schema, dict) and schema.get("type") == "object", f"tools: {name} has no object schema")


class _Chat:
    """Chat completions."""

    def __init__(self, body: Json) -> None:
        self.body = body
        self.model: str = body["model"]
        self.open: list[str] = []

    def check(self) -> None:
        messages = self.body.get("messages")
        _check(isinstance(messages, list) and messages, "messages is empty")
        tools = self.body.get("tools", [])
        functions = [tool.get("function", {}) for tool in tools]
        _check_tools([f.get("name") for f in functions], [f.get("parameters") for f in functions])
        for place, message in enumerate(messages or []):
            self.where = f"messages[{place}]"
            self._message(message)
        _check(not self.open, f"calls without a result at the end: {self.open}")

    def _message(self, message: Json) -> None:
        role, content = message.get("role"), message.get("content")
        if role == "tool":
            id = message.get("tool_call_id")
            _check(id in self.open, f"{self.where}: a result without an open call: {id!r}")
            self.open.remove(str(id))
            _check(content and not (isinstance(content, str) and not content.strip()), f"{self.where}: empty result")
        else:
            _check(not self.open, f"{self.where}: calls without a result: {self.open}")
        if isinstance(content, list):
            self._parts(content)
        match role:
            case "tool" | "developer":
                pass
            case "system" | "user":
                _check(isinstance(content, list) or not _is_blank(content), f"{self.where}: blank {role} message")
            case "assistant":
                self._assistant(message, content)
            case _:
                raise Refused(f"{self.where}: role {role!r}")

    def _parts(self, content: list[Json]) -> None:
        _check(content, f"{self.where}: no parts")
        for part in content:
            _check(part.get("type") in ("text", "image_url"), f"{self.where}: a part of type {part.get('type')!r}")
            if part["type"] == "text":
                _check(not _is_blank(part.get("text")), f"{self.where}: a blank text part")
            else:
                _check("text-only" not in self.model, f"{self.where}: an image, and the model takes text only")

    def _assistant(self, message: Json, content: Any) -> None:
        calls = message.get("tool_calls")
        _check(calls is None or calls, f"{self.where}: tool_calls is empty")
        _check(
            calls or not (content is None or (isinstance(content, str) and not content.strip())), f"{self.where}: empty"
        )
        _check("signature" not in message, f"{self.where}: unknown field signature")
        if "needs-reasoning" in self.model:
            _check("reasoning_content" in message, f"{self.where}: reasoning_content is missing")
        for call in calls or []:
            id, function = call.get("id"), call.get("function", {})
            _check(isinstance(id, str) and id, f"{self.where}: a call without an id")
            _check(id not in self.open, f"{self.where}: the id {id!r} twice")
            _check("mistral" not in self.model or MISTRAL_ID.fullmatch(id), f"{self.where}: the id {id!r}")
            _check(NAME.fullmatch(function.get("name", "")), f"{self.where}: the name {function.get('name')!r}")
            _check(_is_object(function.get("arguments")), f"{self.where}: arguments are no JSON object")
            self.open.append(id)


class _Messages:
    """Anthropic's Messages."""

    def __init__(self, body: Json) -> None:
        self.body = body
        self.model: str = body["model"]
        self.ids: set[str] = set()

    def check(self) -> None:
        limit = self.body.get("max_tokens")
        _check(isinstance(limit, int) and limit > 0, "max_tokens is missing")
        self._thinking(int(limit or 0))
        tools = self.body.get("tools", [])
        _check_tools([tool.get("name") for tool in tools], [tool.get("input_schema") for tool in tools])
        for block in self.body.get("system", []):
            _check(not _is_blank(block.get("text")), "system: blank text")
        wanted: list[str] = []
        turns = self._turns()
        for place, (role, blocks) in enumerate(turns):
            self.where = f"messages.{place}"
            self._results(role, blocks, wanted)
            wanted = [self._block(role, block) for block in blocks if block.get("type") == "tool_use"]
            for block in blocks:
                if block.get("type") != "tool_use":
                    self._block(role, block)
        _check(not wanted, f"tool_use without tool_result at the end: {wanted}")
        _check(turns[-1][0] == "user", "the last message is the assistant's")
        _check(len(list(self._marks(self.body))) <= 4, "more than four cache breakpoints")

    def _thinking(self, limit: int) -> None:
        thinking = self.body.get("thinking") or {}
        if thinking.get("type") == "enabled":
            budget = thinking.get("budget_tokens", 0)
            _check(1024 <= budget < limit, f"thinking: a budget of {budget} with max_tokens {limit}")
        if thinking.get("type") in ("enabled", "adaptive"):
            _check("temperature" not in self.body, "temperature with thinking")

    def _turns(self) -> list[tuple[str, list[Json]]]:
        """Neighbours of one role joined, as the API does."""
        messages = self.body.get("messages")
        _check(isinstance(messages, list) and messages, "messages is empty")
        turns: list[tuple[str, list[Json]]] = []
        for place, message in enumerate(messages or []):
            role, content = message.get("role"), message.get("content")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            _check(role in ("user", "assistant"), f"messages.{place}: role {role!r}")
            _check(blocks, f"messages.{place}: no content")
            if turns and turns[-1][0] == role:
                turns[-1][1].extend(blocks)
            else:
                turns.append((role, list(blocks)))
        _check(turns[0][0] == "user", "the first message is not the user's")
        return turns

    def _results(self, role: str, blocks: list[Json], wanted: list[str]) -> None:
        """The results come first, one for each call of the message before."""
        got = [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"]
        _check(role == "user" or not got, f"{self.where}: tool_result of the assistant")
        _check(sorted(map(str, got)) == sorted(wanted), f"{self.where}: results for {got}, calls were {wanted}")
        kinds = [block.get("type") == "tool_result" for block in blocks]
        _check(kinds == sorted(kinds, reverse=True), f"{self.where}: tool_result after other content")

    def _block(self, role: str, block: Json) -> str:
        match block.get("type"):
            case "text":
                _check(not _is_blank(block.get("text")), f"{self.where}: blank text")
            case "image":
                _check(role == "user" and "text-only" not in self.model, f"{self.where}: an image")
                _check(block.get("source", {}).get("data"), f"{self.where}: an image without data")
            case "tool_result":
                self._result(block)
            case "thinking" | "redacted_thinking" as kind:
                _check(role == "assistant", f"{self.where}: thinking of the user")
                signature = str(block.get("signature" if kind == "thinking" else "data") or "")
                _check(signature.startswith(f"SIG-{self.model}-"), f"{self.where}: signature {signature!r}")
            case "tool_use":
                id = str(block.get("id"))
                _check(role == "assistant", f"{self.where}: tool_use of the user")
                _check(ID.fullmatch(id) and id not in self.ids, f"{self.where}: the id {id!r}")
                _check(NAME.fullmatch(str(block.get("name"))), f"{self.where}: the name {block.get('name')!r}")
                _check(isinstance(block.get("input"), dict), f"{self.where}: input is no object")
                self.ids.add(id)
                return id
            case kind:
                raise Refused(f"{self.where}: a block of type {kind!r}")
        return ""

    def _result(self, block: Json) -> None:
        content = block.get("content", "")
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part.get("type") == "text":
                _check(not _is_blank(part.get("text")), f"{self.where}: blank text in a result")
            else:
                _check(not block.get("is_error"), f"{self.where}: an image in an error")
                _check("text-only" not in self.model, f"{self.where}: an image")

    def _marks(self, value: Any) -> Iterator[Json]:
        if isinstance(value, dict):
            if "cache_control" in value:
                yield value
            for item in value.values():
                yield from self._marks(item)
        elif isinstance(value, list):
            for item in value:
                yield from self._marks(item)


class _Responses:
    """OpenAI's Responses, with `store: false`."""

    def __init__(self, body: Json) -> None:
        self.body = body
        self.model: str = body["model"]
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.reasoned = False
        """Whether the reasoning that an item id belongs to was sent."""

    def check(self) -> None:
        items = self.body.get("input")
        _check(isinstance(items, list) and items, "input is empty")
        _check(self.body.get("store") is False, "store is not false")
        tools = self.body.get("tools", [])
        _check_tools([tool.get("name") for tool in tools], [tool.get("parameters") for tool in tools])
        before = ""
        for place, item in enumerate(items or []):
            self.where = f"input[{place}]"
            of_answer = item.get("type") in ("reasoning", "function_call") or item.get("role") == "assistant"
            _check(of_answer or before != "reasoning", f"{self.where}: reasoning that nothing follows")
            before = str(item.get("type"))
            match item.get("type", "message"):
                case "message":
                    self._message(item)
                case "function_call":
                    self._call(item)
                case "function_call_output":
                    self._output(item)
                case "reasoning":
                    content = str(item.get("encrypted_content") or "")
                    _check(content.startswith(f"ENC-{self.model}-"), f"{self.where}: encrypted_content {content!r}")
                    _check(isinstance(item.get("summary"), list), f"{self.where}: no summary")
                    self.reasoned = True
                case kind:
                    raise Refused(f"{self.where}: an item of type {kind!r}")
        _check(not self.open, f"calls without an output at the end: {self.open}")

    def _message(self, item: Json) -> None:
        role, content = item.get("role"), item.get("content")
        _check(role == "assistant" or not self.open, f"{self.where}: calls without an output: {self.open}")
        _check(role in ("user", "assistant", "system", "developer"), f"{self.where}: role {role!r}")
        parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
        _check(parts, f"{self.where}: no content")
        for part in parts:
            self._part(part, "output_text" if role == "assistant" else "input_text")
        self._item_id(item)
        if role == "user":
            self.reasoned = False

    def _part(self, part: Json, text_type: str) -> None:
        if part.get("type") == "input_image":
            _check("text-only" not in self.model, f"{self.where}: an image")
            return
        _check(part.get("type") in (text_type, "input_text"), f"{self.where}: a part of type {part.get('type')!r}")
        _check(not _is_blank(part.get("text")), f"{self.where}: blank text")

    def _item_id(self, item: Json) -> None:
        id = item.get("id")
        if id is not None:
            _check(self.reasoned, f"{self.where}: the id {id!r} without the reasoning before it")
            _check(id not in self.ids, f"{self.where}: the id {id!r} twice")
            self.ids.add(id)

    def _call(self, item: Json) -> None:
        id = item.get("call_id")
        _check(isinstance(id, str) and ID.fullmatch(id), f"{self.where}: call_id {id!r}")
        _check(id not in self.open, f"{self.where}: call_id {id!r} twice")
        _check(NAME.fullmatch(str(item.get("name"))), f"{self.where}: the name {item.get('name')!r}")
        _check(_is_object(item.get("arguments")), f"{self.where}: arguments are no JSON object")
        self._item_id(item)
        self.open.append(str(id))

    def _output(self, item: Json) -> None:
        id = item.get("call_id")
        _check(id in self.open, f"{self.where}: an output without an open call: {id!r}")
        self.open.remove(str(id))
        output = item.get("output")
        parts = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
        _check(parts, f"{self.where}: no output")
        for part in parts:
            self._part(part, "input_text")
