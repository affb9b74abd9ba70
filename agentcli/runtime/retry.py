"""Retry: when a failed request is tried again, and after how long. The only retry layer there is."""

from datetime import datetime, timedelta

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


def too_long_a_wait(error: ProviderError | None, settings: RetrySettings) -> str | None:
    """What to tell the person when the server asks for a wait that is left to them; None if it does not."""
    if error is None or error.retry_after is None or error.retry_after <= settings.max_delay:
        return None
    wait = timedelta(seconds=round(error.retry_after))
    again = datetime.now() + wait
    moment = f"{again:%H:%M}" if wait < timedelta(hours=12) else f"{again:%Y-%m-%d %H:%M}"
    return f"the server asks to wait {wait} (h:mm:ss); try again at {moment}"
