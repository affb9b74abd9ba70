"""The one family of errors: what went wrong, what to do about it, and whether trying again can help.

```
AgentcliError
├── UsageError                 the call, the command line or a file named on it is wrong
│   └── AgentBusyError         prompt() or reset() while a run is going on
├── ConfigError                a configuration file or value
│   └── CredentialsError       a key is missing, empty or malformed
├── SessionError               a session file or a place in it (`code` says which kind)
├── ToolError                  a tool could not do what it was asked; the model reads it
├── ResourceError              the system has no more threads, processes, memory or descriptors
└── ProviderError              what a model's server did, or did not do
    ├── AuthError              401, 403
    ├── QuotaError             out of credit: trying again does not help
    ├── RateLimitError         429: trying again helps, later
    ├── OverloadedError        5xx, 529
    ├── ContextOverflowError   the request is longer than the model's window
    ├── BadRequestError        any other 4xx
    │   └── ModelNotFoundError
    ├── RefusedError           refusal or content filter
    ├── NetworkError           no connection, or it broke
    │   └── ProviderTimeoutError
    └── BadResponseError       not the protocol, or a stream that ends without its end
```

Every message is written for the person (or model) who reads it: one line, what and where; `hint` says what to do.
"""

from typing import ClassVar


class AgentcliError(Exception):
    """Base of every error that agentcli raises on purpose.

    Args:
        message: one line: what is wrong, and where.
        hint: one line: what to do; empty if there is nothing to say.
    """

    kind: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    """Whether the same call may succeed if it is made again later."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UsageError(AgentcliError):
    kind = "usage"


class AgentBusyError(UsageError):
    kind = "busy"


class ConfigError(AgentcliError):
    kind = "config"


class CredentialsError(ConfigError):
    kind = "credentials"


class SessionError(AgentcliError):
    """Args:
    code: `not_found`, `not_a_session`, `old_format`, `locked`, `invalid_fork_target`, `ambiguous`, `cwd_missing`,
        `storage`, `exists`, `duplicate_id`, `nothing_to_compact`, `already_compacted`.
    """

    kind = "session"

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class ToolError(AgentcliError):
    kind = "tool"


class ResourceError(AgentcliError):
    kind = "resources"
    retryable = True


class ProviderError(AgentcliError):
    """Args:
    status: the HTTP status, if there was an answer.
    retry_after: seconds that the server asks to wait before the next try.
    """

    kind = "provider"

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after = retry_after


class AuthError(ProviderError):
    kind = "auth"


class QuotaError(ProviderError):
    kind = "quota"


class RateLimitError(ProviderError):
    kind = "rate_limit"
    retryable = True


class OverloadedError(ProviderError):
    kind = "overloaded"
    retryable = True


class ContextOverflowError(ProviderError):
    kind = "overflow"


class BadRequestError(ProviderError):
    kind = "bad_request"


class ModelNotFoundError(BadRequestError):
    kind = "model_not_found"


class RefusedError(ProviderError):
    kind = "refused"


class NetworkError(ProviderError):
    kind = "network"
    retryable = True


class ProviderTimeoutError(NetworkError):
    kind = "timeout"


class BadResponseError(ProviderError):
    kind = "bad_response"
    retryable = True
