"""The terminal: input and output, modes, and all ways in which the app ends."""
