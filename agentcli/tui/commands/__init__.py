"""Commands: the tables of actions, the keymap, and the functions that run them."""
