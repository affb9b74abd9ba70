"""Themes, and the styles that are made of them."""
