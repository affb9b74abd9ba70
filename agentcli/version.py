"""The version of agentcli, on its own so that any floor may name it."""

__version__ = "0.1.0"
