"""Providers: wire APIs, the model catalog, server-sent events, and what a server's errors mean.

Imports only the agent floor. A wire API is one module; `stream_client` has the table of them.
"""
