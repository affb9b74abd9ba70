"""Export of a session as HTML, Markdown or JSON lines."""
