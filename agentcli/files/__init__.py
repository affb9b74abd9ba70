"""Files: how agentcli opens what others may have put on the disk, and where a repository begins."""
