"""Widgets, one a module. They post messages to their parents, and call nothing outside of this package."""
