"""The tools grep, find and ls, on ripgrep."""
