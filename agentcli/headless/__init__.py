"""Headless faces: one prompt from the command line, and what scripts read."""
