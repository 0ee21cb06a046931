"""What an SDK raises, as a failure with a code that does not change and a sentence that says what to do.

The SDKs' own exception types are not imported: whoever reads a failure may have no SDK at all.
"""

import re
from time import time
from typing import Any

from sidecar.models.errors import Unusable
from sidecar.models.port import Failure

_TOO_LONG = re.compile(
    r"context.?(length|window|size)|prompt is too long|too many (input )?tokens|maximum context"
    r"|exceeds? the (maximum|available)|input token count|reduce the length|request too large|n_ctx",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"model.{0,80}(not.?found|does not exist|not supported|is not available)|not_found", re.I | re.S)
_NO_CREDIT = re.compile(r"insufficient_quota|credit balance|billing|payment required", re.IGNORECASE)
_NO_TOOLS = re.compile(
    r"(does not|doesn't|not) support.{0,20}tool|tools? param|tool.?(choice|use|call).{0,60}(requires|support|enable)",
    re.I,
)
_BOUND = re.compile(r"signature.{0,40}thinking|thinking.{0,60}(cannot be modified|different conversation)", re.I | re.S)
_OVERLOADED = re.compile(r"overloaded|rate.?limit|server_error|api_error|timeout|unavailable", re.IGNORECASE)
_SHOWN = 400


def failure_of(error: Exception, provider: str, model: str) -> Failure:
    if isinstance(error, Unusable):
        return error.failure
    status = status_of(error)
    said = _said(error)
    if status in (401, 403) or "API_KEY_INVALID" in said or "API key not valid" in said:
        # What the provider says here may repeat a part of the key.
        message = (
            f"{provider} does not accept the key ({status}). Set a good one with `brain keys set {provider}` or in the "
            "environment, and resume."
        )
        return Failure(code="bad_key", message=message, retry=False)
    if status is None or status < 400:
        return _without_a_status(error, provider, said)
    if status == 402 or _NO_CREDIT.search(said):
        message = f"The account at {provider} has no credit left: {said}"
        return Failure(code="no_credit", message=message, retry=False)
    if status in (400, 413, 422, 500) and _TOO_LONG.search(said):
        message = f"The conversation is too long for {provider}/{model}: {said}"
        return Failure(code="context_overflow", message=message, retry=False)
    if status == 404 or (status == 400 and _NO_MODEL.search(said)):
        message = f"{provider} has no model {model}: {said} `brain models` lists what is configured."
        return Failure(code="unknown_model", message=message, retry=False)
    if status == 429:
        message = f"{provider} takes no more requests at the moment: {said}"
        return Failure(code="rate_limited", message=message, retry_after=_retry_after(error))
    if status in (408, 409, 425) or status >= 500:
        message = f"{provider} is not able to answer at the moment ({status}): {said}"
        return Failure(code="model_unavailable", message=message, retry_after=_retry_after(error))
    message = f"{provider} did not take the request ({status}): {said}"
    return Failure(code="bad_request", message=message, retry=False)


def lacks_tools(error: Exception) -> bool:
    """Whether the server says that this model cannot be offered tools."""
    return (status_of(error) or 0) in (400, 404, 422, 500, 501) and bool(_NO_TOOLS.search(_said(error)))


def thinking_is_bound(error: Exception) -> bool:
    """Whether what was thought before is refused, because what stood before it is not the same any more."""
    return status_of(error) == 400 and bool(_BOUND.search(_said(error)))


def status_of(error: Exception) -> int | None:
    """An error event inside a stream has no status of its own, but names its kind."""
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(status, int) and status >= 400:
        return status
    kind = _kind(getattr(error, "body", None))
    by_kind = {"overloaded_error": 529, "rate_limit_error": 429, "authentication_error": 401, "api_error": 500}
    return by_kind.get(kind)


def _without_a_status(error: Exception, provider: str, said: str) -> Failure:
    name = type(error).__name__
    if "Timeout" in name:
        return Failure(code="model_unreachable", message=f"{provider} did not answer in time.")
    if "ConnectError" in name or ("Connection" in name and "Connect" in type(error.__cause__).__name__):
        where = "Is the network there? Is the base URL right? A local server must be running."
        return Failure(code="model_unreachable", message=f"{provider} cannot be reached. {where}")
    if isinstance(error, ImportError):
        message = f"The package for {provider} is not installed here: {error}. `make setup` installs it."
        return Failure(code="no_model", message=message, retry=False)
    if _OVERLOADED.search(said):
        return Failure(code="model_unavailable", message=f"{provider} broke off its reply: {said}")
    return Failure(code="stream_cut", message=f"The reply of {provider} broke off before its end ({name}).")


def _kind(body: Any) -> str:
    inner = body.get("error", body) if isinstance(body, dict) else {}
    return str(inner.get("type", "")) if isinstance(inner, dict) else ""


def _said(error: Exception) -> str:
    body = getattr(error, "body", None)
    if body is None:
        body = getattr(error, "details", None)
    inner: Any = body.get("error", body) if isinstance(body, dict) else body
    words = [str(inner.get(name) or "") for name in ("message", "code")] if isinstance(inner, dict) else []
    text = " ".join(word for word in words if word) or str(getattr(error, "message", None) or error)
    return " ".join(text.split())[:_SHOWN]


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is None:
        return _retry_info(getattr(error, "details", None))
    seconds = _number(given)
    if seconds is None:
        from email.utils import parsedate_to_datetime

        try:
            seconds = parsedate_to_datetime(given).timestamp() - time()
        except ValueError:
            return None
    return max(0.0, seconds)


def _retry_info(details: Any) -> float | None:
    """Gemini says it in the body: `{"@type": "…RetryInfo", "retryDelay": "7s"}`."""
    inner = details.get("error", {}) if isinstance(details, dict) else {}
    for item in inner.get("details") or [] if isinstance(inner, dict) else []:
        if isinstance(item, dict) and str(item.get("@type", "")).endswith("RetryInfo"):
            return _number(str(item.get("retryDelay", "")).removesuffix("s"))
    return None


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None
