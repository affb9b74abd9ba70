"""Refusal: what a command prints when the sandbox has refused it something, and what the model is told then."""

import re

_FILES = re.compile(
    r"read-only file system|permission denied|operation not permitted|device or resource busy"
    r"|\b(?:EROFS|EACCES|EPERM|EBUSY)\b",
    re.I,
)
_NETWORK = re.compile(
    r"network is unreachable|could not resolve|couldn't resolve|name resolution|name or service not known"
    r"|unknown host|no such host|getaddrinfo|nodename nor servname|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND)\b"
    r"|refused by the sandbox",
    re.I,
)
_LOOKED_AT = 1 << 14
"""Characters of the end of the output."""


def refusal_line(output: str) -> str:
    """A line for a command that has failed, if its output looks as if the sandbox was why; else empty."""
    end = output[-_LOOKED_AT:]
    found = [what for what, pattern in (("a file", _FILES), ("the network", _NETWORK)) if pattern.search(end)]
    if not found:
        return ""
    return (
        f"It ran in the sandbox, which may have refused it {' and '.join(found)}. If it is needed, call bash again "
        "with unsandboxed=true: the person is asked."
    )
