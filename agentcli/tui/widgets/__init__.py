"""Widgets, one a module. Each posts messages about itself and calls nobody."""
