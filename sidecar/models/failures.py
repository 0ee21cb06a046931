"""Maps SDK exceptions to failures with a stable code and a message that says what to do.

Does not import the SDKs: they may not be installed.
"""

import re
from math import isfinite
from time import time
from typing import Any

from sidecar.models.encoding import fix_surrogates
from sidecar.models.errors import Failure, ModelFailed

#: “Please try again in 1m7.5s.” “Please retry after 20 seconds.”
_WAIT_TEXT = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(\d+) ?h[a-z]* ?)?(?:(\d+) ?m(?!s|illi)[a-z]* ?)?(?:([\d.]*\d) ?(ms|s))?",
    re.I,
)


def retry_after(error: Exception, detail: str, details: Any) -> float | None:
    """Seconds to wait, from headers, `details` or the message `said`."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    if given is not None:
        seconds = _number(given)
        return _seconds_until(given) if seconds is None else seconds
    info = _retry_info(details)
    return _seconds_in_text(detail) if info is None else info


def _seconds_until(date: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time())
    except ValueError:
        return None


def _retry_info(details: Any) -> float | None:
    """Gemini's format: `{"@type": "…RetryInfo", "retryDelay": "7s"}`."""
    for item in details if isinstance(details, list) else ():
        if isinstance(item, dict) and str(item.get("@type", "")).endswith("RetryInfo"):
            return _number(str(item.get("retryDelay", "")).removesuffix("s"))
    return None


def _seconds_in_text(detail: str) -> float | None:
    found = _WAIT_TEXT.search(detail)
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


_TOO_LONG = re.compile(
    r"context.?(length|window|size|limit)|prompt.{0,30} is (too long|longer than)|too many (input )?tokens"
    r"|maximum (context|model length)|exceeds? the (maximum|available)|input token count|reduce the length|n_ctx",
    re.I,
)
#: Larger than the per-minute limit, so waiting does not help.
_TOO_MUCH = re.compile(r"request too large|must be reduced", re.I)
_NO_MODEL = re.compile(
    r"model.{0,80}(not.?found|does not exist|not supported|is not available)|access to model|model_not_found|not_found",
    re.I | re.S,
)
_MAX_DETAIL = 2_000
_LIKE_A_KEY = re.compile(r"\b(?=[\w-]*\d)[\w-]{12,}|\S*\*\*\S*")
#: “Billing” alone proves nothing: rate limit messages mention it, too.
_NO_CREDIT = re.compile(r"insufficient_quota|credit balance|billing_(error|hard_limit)|payment required", re.I)
_BAD_KEY = re.compile(r"API_KEY_INVALID|API key (not valid|expired)", re.I)
_NO_TOOLS = re.compile(
    r"(does not|doesn't|not|found that) support.{0,20}(tool|function.call)|tools? param"
    r"|(tool|function).?(choice|use|call).{0,60}(requires|support|enable)",
    re.I,
)
_BOUND = re.compile(r"signature.{0,40}thinking|thinking.{0,60}(cannot be modified|different conversation)", re.I | re.S)
#: The provider rejects a malformed tool call of the model.
_GARBLED = re.compile(r"tool_use_failed|json_validate_failed", re.I)
#: HTTP status for error names inside a stream.
_STATUS_BY_NAME = {
    "invalid_request_error": 400,
    "exceed_context_size_error": 400,
    "context_length_exceeded": 400,
    "tool_use_failed": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
    "INVALID_ARGUMENT": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
_PAGE = re.compile(r"\s*<(!doctype|html)\b", re.I)
_TAGS = re.compile(r"<(style|script)\b.*?</\1>|<[^<>]*>", re.S | re.I)
_NUMBER = re.compile(r"[0-9]{3}")
_SHOWN = 400


def to_failure(error: Exception, provider: str, model: str) -> Failure:
    if isinstance(error, ModelFailed):
        return error.failure
    status, detail, fingerprint = status_of(error), _detail(error), _fingerprint(error)
    if status is None:
        return _without_a_status(error, provider, detail)
    if status == 401 or (status == 403 and not _NO_MODEL.search(fingerprint)) or _BAD_KEY.search(fingerprint):
        # The message may repeat part of the key.
        why = f": {_LIKE_A_KEY.sub('…', detail[:_MAX_DETAIL])}" if status == 403 else "."
        message = (
            f"{provider} rejects the key ({status}){why} Store a valid one with `brain keys set {provider}` or in "
            "the environment, and resume."
        )
        return Failure(code="bad_key", message=message, retry=False)
    if status == 402 or _NO_CREDIT.search(fingerprint):
        message = (
            f"The account at {provider} has no credit left: {detail} Add some, or choose another model, and resume."
        )
        return Failure(code="no_credit", message=message, retry=False)
    if status == 413 or _is_too_long(status, fingerprint):
        message = (
            f"The conversation is too long for {provider}/{model}: {detail} Choose one with a larger context window."
        )
        return Failure(code="context_overflow", message=message, retry=False)
    if status == 400 and _GARBLED.search(fingerprint):
        return Failure(code="garbled_reply", message=f"The reply of {provider} is malformed: {detail}")
    if status == 404 or (status in (400, 403) and _NO_MODEL.search(fingerprint)):
        message = (
            f"{provider} has no model {model}: {detail} `brain models` lists what is configured; if the model exists, "
            "check the base URL."
        )
        return Failure(code="unknown_model", message=message, retry=False)
    if status == 429:
        message = f"{provider} limits the request rate: {detail}"
        return Failure(code="rate_limited", message=message, retry_after=_pause(error, detail))
    if status in (408, 409, 425) or status >= 500:
        message = f"{provider} is unavailable ({status}): {detail}"
        return Failure(code="model_unavailable", message=message, retry_after=_pause(error, detail))
    message = f"{provider} rejected the request ({status}): {detail}"
    return Failure(code="bad_request", message=message, retry=False)


def lacks_tools(error: Exception) -> bool:
    """Whether the server says that this model doesn't support tools."""
    return status_of(error) in (400, 404, 422, 500, 501) and bool(_NO_TOOLS.search(_fingerprint(error)))


def thinking_is_bound(error: Exception) -> bool:
    """Whether the model rejects its earlier thinking because what precedes it changed."""
    return status_of(error) == 400 and bool(_BOUND.search(_fingerprint(error)))


def refusal_text(error: Exception) -> str:
    """The server's objection to the request's format; empty for other errors."""
    return _fingerprint(error) if status_of(error) in (400, 422, 500) else ""


def status_of(error: Exception) -> int | None:
    """The HTTP status; an error event inside a stream has a number or a name instead."""
    number = next((each for each in _numbers(error) if 400 <= each < 600), None)
    if number is not None:
        return number
    names = (str(_inner(error).get(name)) for name in ("code", "type", "status"))
    return next((_STATUS_BY_NAME[name] for name in names if name in _STATUS_BY_NAME), None)


def _numbers(error: Exception) -> list[int]:
    given = [getattr(error, name, None) for name in ("status_code", "code")]
    given += [_inner(error).get(name) for name in ("status_code", "code")]
    return [int(each) for each in given if isinstance(each, int) or (isinstance(each, str) and _NUMBER.fullmatch(each))]


def _is_too_long(status: int, fingerprint: str) -> bool:
    return (status in (400, 422, 500) and bool(_TOO_LONG.search(fingerprint))) or (
        status in (400, 422, 429) and bool(_TOO_MUCH.search(fingerprint))
    )


def _without_a_status(error: Exception, provider: str, detail: str) -> Failure:
    name, cause = type(error).__name__, type(error.__cause__).__name__
    if "Timeout" in name:
        return Failure(code="model_unreachable", message=f"{provider} did not answer in time.")
    if "ConnectError" in (name, cause):
        where = "Check the network, the base URL, and that a local server is running."
        return Failure(code="model_unreachable", message=f"{provider} cannot be reached. {where}")
    if any(300 <= each < 400 for each in _numbers(error)):
        message = (
            f"The base URL of {provider} redirects to another address; the key is not sent there. Set the final "
            "address, and resume."
        )
        return Failure(code="model_unreachable", message=message, retry=False)
    if isinstance(error, ImportError):
        message = f"The package for {provider} is not installed here: {error}. `make setup` installs it."
        return Failure(code="no_model", message=message, retry=False)
    if _body(error) is not None:
        return Failure(code="model_unavailable", message=f"{provider} aborted its reply: {detail}")
    if isinstance(error, LookupError | AttributeError | TypeError | ValueError | RecursionError):
        return Failure(code="garbled_reply", message=f"The reply of {provider} is unreadable ({name}).")
    return Failure(code="stream_cut", message=f"The reply of {provider} ended early ({name}).")


def _pause(error: Exception, detail: str) -> float | None:
    return retry_after(error, detail, _inner(error).get("details"))


def _body(error: Exception) -> Any:
    """The response body; its attribute differs per SDK, and some servers send a list."""
    body = getattr(error, "body", None)
    body = getattr(error, "details", None) if body is None else body
    return body[0] if isinstance(body, list) and body else body


def _inner(error: Exception) -> dict[str, Any]:
    body = _body(error)
    inner = body.get("error", body) if isinstance(body, dict) else body
    return inner if isinstance(inner, dict) else {"message": inner} if isinstance(inner, str) else {}


def _detail(error: Exception) -> str:
    """The server's message, for the user."""
    inner = _inner(error)
    text = inner.get("message") or inner.get("detail") or getattr(error, "message", None) or error
    detail = str(text)
    if _PAGE.match(detail):
        # A proxy answered with a web page.
        detail = _TAGS.sub(" ", detail[: 20 * _SHOWN])
    detail = " ".join(fix_surrogates(detail).split())[:_SHOWN]
    return detail if not detail or detail[-1] in ".!?…" else f"{detail}."


def _fingerprint(error: Exception) -> str:
    """Message, codes and reasons of the error in one string, for matching."""
    inner = _inner(error)
    details = inner.get("details")
    reasons = [each.get("reason") for each in details if isinstance(each, dict)] if isinstance(details, list) else []
    parts = [_detail(error), *(inner.get(name) for name in ("code", "type", "status")), *reasons]
    return " ".join(str(part) for part in parts if part)
