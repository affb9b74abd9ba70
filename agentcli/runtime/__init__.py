"""The runtime: the one place where agent, session, tools, provider and config are tied together."""
