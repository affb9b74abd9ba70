"""Modal screens over the transcript: lists to choose from, the session's tree, the help. Imported when first used.

A screen calls no provider, tool or storage: it gets data and callables, and returns what was chosen.
"""
