"""Items: what the transcript shows, one kind a module. Each turns its own data into rows of a given width."""
