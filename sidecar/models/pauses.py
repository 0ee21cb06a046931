"""How long a provider asks to wait before it is asked again: in a header, in a field of its answer, or in words."""

import re
from math import isfinite
from time import time
from typing import Any

#: “Please try again in 1m7.5s.” “Please retry after 20 seconds.”
_IN_WORDS = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(\d+) ?h[a-z]* ?)?(?:(\d+) ?m(?!s|illi)[a-z]* ?)?(?:([\d.]*\d) ?(ms|s))?",
    re.I,
)


def retry_after(error: Exception, said: str, details: Any) -> float | None:
    """`said` and `details` are what its body says of it."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is not None:
        seconds = _number(given)
        return _until(given) if seconds is None else seconds
    told = _retry_info(details)
    return _in_words(said) if told is None else told


def _until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time())
    except ValueError:
        return None


def _retry_info(details: Any) -> float | None:
    """Gemini says it so, whoever's dialect it is asked in: `{"@type": "…RetryInfo", "retryDelay": "7s"}`."""
    for item in details if isinstance(details, list) else ():
        if isinstance(item, dict) and str(item.get("@type", "")).endswith("RetryInfo"):
            return _number(str(item.get("retryDelay", "")).removesuffix("s"))
    return None


def _in_words(said: str) -> float | None:
    found = _IN_WORDS.search(said)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, rest = (_number(found[group] or 0) or 0.0 for group in (1, 2, 3))
    return hours * 3600 + minutes * 60 + (rest / 1000 if found[4] == "ms" else rest)


def _number(text: object) -> float | None:
    try:
        number = float(str(text))
    except ValueError:
        return None
    return max(0.0, number) if isfinite(number) else None
