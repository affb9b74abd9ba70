"""The app: a Textual face on the runtime, and the only package that imports Textual.

`widgets` are what the screen is made of, `items` what the transcript is made of. Agent logic is in neither.
"""
