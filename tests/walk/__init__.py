"""A walk through the app in a real terminal (tmux): `python -m tests.walk`."""
