"""Storages: where the entries of a session are kept."""
