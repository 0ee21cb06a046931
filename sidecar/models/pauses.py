"""How long a provider asks to wait before it is asked again: in a header, in seconds or as a date, or in its answer."""

from math import isfinite
from time import time
from typing import Any


def retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is None:
        return _retry_info(getattr(error, "details", None))
    seconds = _number(given)
    return _until(given) if seconds is None else seconds


def _until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time())
    except ValueError:
        return None


def _retry_info(details: Any) -> float | None:
    """Gemini says it in the body: `{"@type": "…RetryInfo", "retryDelay": "7s"}`."""
    inner = details.get("error", {}) if isinstance(details, dict) else {}
    for item in inner.get("details") or [] if isinstance(inner, dict) else []:
        if isinstance(item, dict) and str(item.get("@type", "")).endswith("RetryInfo"):
            return _number(str(item.get("retryDelay", "")).removesuffix("s"))
    return None


def _number(text: object) -> float | None:
    try:
        number = float(str(text))
    except ValueError:
        return None
    return max(0.0, number) if isfinite(number) else None
