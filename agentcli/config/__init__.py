"""What a person has set: settings, where things are kept, and where keys come from."""
