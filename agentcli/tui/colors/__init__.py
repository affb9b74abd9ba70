"""Colours: themes, the theme in use, and the styles made from it."""
