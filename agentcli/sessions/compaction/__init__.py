"""Compaction without a model: the entries to summarise, their text, their files and their size."""
