"""Tools: bash, read, write, edit, grep, find, ls.

Nothing here knows a session, a setting or a screen: `ToolOptions` holds all that a tool is told. File tools act with
the rights of the person who started agentcli; what limits them is the permission gate before a call, not the tools.
"""
