"""Endpoints: from a `base_url` as people write it to the URL of a request.

The rule, for the endpoints `chat/completions`, `responses` and `messages`, which all live below `/v1`:

| `base_url` | becomes |
| --- | --- |
| `http://host`, `http://host/` | `http://host/v1/messages` |
| `http://host/v1`, `http://host/api/v1/` (a path with a version: `v1`, `v4`, `v1beta` …) | `…/messages` below it |
| `http://host/anthropic` (a path without a version) | `http://host/anthropic/v1/messages` |
| `http://host/any/path/messages` (the endpoint itself) | as it is |

A query is kept; blanks around the URL and a fragment are dropped; without `http://` or `https://` it is refused.
"""

import re
from urllib.parse import SplitResult, urlsplit, urlunsplit

from agentcli.agent.errors import ConfigError

_VERSION = re.compile(r"v\d+([a-z]+\d*)?")
_PLACE = re.compile(r"(?:.*@)?(?:\[[^\[\]\s]+\]|[^\[\]:\s]+)(?::\d*)?")
_SECRET_PARAMETER = re.compile(r"(?i)([?&][^=&]*(?:key|token|secret|sig|pass)[^=&]*=)[^&#]*")
_USER_INFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/?#@\s]*@")


def endpoint(base_url: str, path: str) -> str:
    """The URL of `path` (`chat/completions` …) below a base URL; the module says by which rule.

    Raises:
        ConfigError: the base URL is empty, has no scheme, or has no host.
    """
    split = _split(base_url)
    segments = [segment for segment in split.path.split("/") if segment]
    wanted = path.split("/")
    if segments[-len(wanted) :] != wanted:
        if not any(_VERSION.fullmatch(segment) for segment in segments):
            segments.append("v1")
        segments += wanted
    return urlunsplit((split.scheme, split.netloc, "/" + "/".join(segments), split.query, ""))


def origin(url: str) -> str:
    """`scheme://host:port`, without user and password."""
    split = urlsplit(url)
    return f"{split.scheme}://{split.netloc.rpartition('@')[2]}"


def shown_url(url: str) -> str:
    """The URL as it may be shown: no user, password, or value of a parameter that sounds like a secret."""
    return _SECRET_PARAMETER.sub(r"\1…", _USER_INFO.sub(r"\1", url))


def _split(base_url: str) -> SplitResult:
    url = base_url.strip()
    if not url:
        raise ConfigError("the provider has no `base_url`", hint="set it in the configuration of the provider")
    try:
        split = urlsplit(url)
        port_is_valid = bool(_PLACE.fullmatch(split.netloc)) and (split.port is None or split.port > 0)
    except ValueError:
        split, port_is_valid = urlsplit(""), False
    if split.scheme in ("http", "https") and split.hostname and port_is_valid:
        return split
    if "://" not in url:
        problem, hint = "has no scheme", f"write https://{shown_url(url)} or http://{shown_url(url)}"
    else:
        problem, hint = "is not an http or https URL with a host", "correct `base_url` of the provider"
    raise ConfigError(f"`base_url` {shown_url(url)} {problem}", hint=hint)
