"""The transcript of a session as data that every frontend shows: `model` keeps it up to date with the events."""
