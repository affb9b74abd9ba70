"""Sessions: the conversation as a tree of entries, in memory or in a file that only grows."""
