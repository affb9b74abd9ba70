"""The terminal itself: bytes in and out, its modes, and every way to leave it."""
