"""The agent: messages, models, events, tool types, hooks, queues, the loop, `Agent`.

Standard library and msgspec only: no file, no network, no terminal.
"""
