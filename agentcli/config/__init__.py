"""What the user has set: settings, directories, credentials, and which project files are trusted."""
