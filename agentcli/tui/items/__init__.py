"""Items of the transcript, one kind a module. Each turns its own data into rows of a given width."""
