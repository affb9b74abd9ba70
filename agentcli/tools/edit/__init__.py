"""The edit tool: finds what is to be replaced, and replaces it."""
