"""Screens: what is chosen, searched and read in a panel over the conversation. Each is imported when it is first used.

A screen calls no provider, tool or storage: it gets data and callables, and gives back what was chosen.
"""
