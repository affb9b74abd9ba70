"""Requests to providers: clients, proxies, server-sent events, error classes."""
