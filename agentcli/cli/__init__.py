"""The command line: commands that parse, call and print. No logic."""
