"""Permissions: which tool calls run, which are asked about, which are blocked."""
