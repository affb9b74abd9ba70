"""Retry: when a failed request is tried again, and after how long. The only retry layer there is."""

from agentcli.agent.errors import ProviderError
from agentcli.config.settings import RetrySettings


def retry_delay(error: ProviderError | None, attempt: int, settings: RetrySettings) -> float | None:
    """Seconds to wait before retry number `attempt` (1 is the first), or None if there is to be none.

    What the server asks for counts, unless it asks for more than `max_delay`: then the person decides, not a timer.
    """
    if error is None or not error.retryable or attempt > settings.max_retries:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= settings.max_delay else None
    return min(settings.base_delay * 2 ** (attempt - 1), settings.max_delay)
