"""The bash tool: commands, their output, and the processes they leave running."""
