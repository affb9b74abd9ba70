"""Extensions: Python files and packages that add tools, commands, hooks and providers."""
