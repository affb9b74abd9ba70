"""What agentcli wrote and answered when a format was fixed: events, RPC responses, session files and their exports."""
