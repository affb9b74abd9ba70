"""Compaction: which entries are summarized, and what the summary is made of."""
