"""What keys and `/commands` do: the actions as data, the keymap, and the coroutines that do them."""
