"""The tools read and write, and what every tool that opens a file shares."""
