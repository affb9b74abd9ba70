"""`agentcli rpc --schema`."""

import msgspec

from agentcli.headless.rpc.schema import rpc_schema


def print_schema() -> int:
    print(msgspec.json.format(msgspec.json.encode(rpc_schema())).decode())
    return 0
