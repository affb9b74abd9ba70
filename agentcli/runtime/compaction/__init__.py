"""Compaction in a running agent: when the context window is full, and how a summary is asked for."""
