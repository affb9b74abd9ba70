"""The example client of `agentcli rpc`, imported from docs/examples, which is no package."""

import importlib.util

from tests.docs.paths import EXAMPLES

_spec = importlib.util.spec_from_file_location("rpc_client", EXAMPLES / "rpc_client.py")
assert _spec and _spec.loader
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
RpcClient = _module.RpcClient
