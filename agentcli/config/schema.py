"""The JSON Schema of settings, with what the declarations say of them."""

from typing import Any

import msgspec
from msgspec import Struct

from agentcli.config.declaration import declared


def settings_schema(schema: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a config file, for editors: descriptions, limits, defaults, and no other keys.

    Args:
        schema: the Struct of all settings.
    """
    made = msgspec.json.schema(schema)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    settings = made["$defs"][schema.__name__]["properties"]
    for key in settings.keys() - declared(schema).keys():
        del settings[key]
    for definition in made["$defs"].values():
        if definition.get("type") == "object":
            definition.setdefault("additionalProperties", False)
    return made
