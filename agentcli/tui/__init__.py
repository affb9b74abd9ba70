"""The app: a Textual frontend for the runtime, and the only package that imports Textual.

`widgets` are the parts of the screen, `items` the parts of the transcript. Agent logic is in neither.
"""
