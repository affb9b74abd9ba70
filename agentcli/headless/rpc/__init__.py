"""RPC: another program drives a session by lines of JSON on stdin and stdout."""
