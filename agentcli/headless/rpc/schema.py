"""RPC schema: the JSON Schema of every line of the protocol, made from the types."""

from inspect import getdoc
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import Struct

from agentcli.headless.result import Result
from agentcli.headless.rpc.commands import AnyCommand, Command
from agentcli.headless.rpc.data import Response
from agentcli.headless.rpc.handlers import HANDLERS
from agentcli.headless.serialized_events import event_types


def rpc_schema() -> dict[str, Any]:
    """One document. `$defs` has `Command` (each line of stdin), `Response` and `Event` (each line of stdout).

    A response of success is what `Data.NAME` says for its command's name; it has no data where there is no such entry.
    `run --output events` writes `Event`s and one `Result`.
    """
    commands, events = get_args(AnyCommand), event_types()
    given = {kind: get_type_hints(HANDLERS[kind])["return"] for kind in commands}
    given = {kind: data for kind, data in given.items() if data is not type(None)}
    types: list[Any] = [*commands, *events, *given.values(), Response, Result]
    references, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    by_type = dict(zip(types, references, strict=True))
    for kind in commands:
        _describe(definitions, kind, by_type)
    definitions |= {f"Data.{_name(kind)}": by_type[data] for kind, data in given.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "agentcli rpc",
        "description": "Lines of JSON, each ended by LF: Command on stdin; Response and Event on stdout.",
        "$defs": {
            "Command": {"anyOf": [by_type[kind] for kind in commands]},
            "Event": {"anyOf": [by_type[kind] for kind in events]},
            "Line": {"anyOf": [{"$ref": "#/$defs/Response"}, {"$ref": "#/$defs/Event"}]},
            **definitions,
        },
        "$ref": "#/$defs/Line",
    }


def _describe(definitions: dict[str, Any], kind: type[Command], by_type: dict[Any, Any]) -> None:
    name = by_type[kind]["$ref"].rpartition("/")[2]
    definitions[name] = {"description": getdoc(kind), **definitions[name]}


def _name(kind: type[Struct]) -> str:
    return str(kind.__struct_config__.tag)
