"""Files: how agentcli opens untrusted files, and where a repository begins."""
