"""What an SDK raises, as a failure with a code that does not change and a sentence that says what to do.

The SDKs' own exception types are not imported: whoever reads a failure may have no SDK at all.
"""

import re
from typing import Any

from sidecar.models.characters import mended
from sidecar.models.errors import Unusable
from sidecar.models.pauses import retry_after
from sidecar.models.port import Failure

_TOO_LONG = re.compile(
    r"context.?(length|window|size|limit)|prompt.{0,30} is (too long|longer than)|too many (input )?tokens"
    r"|maximum (context|model length)|exceeds? the (maximum|available)|input token count|reduce the length|n_ctx",
    re.I,
)
#: More at once than is ever taken in a minute, so that no pause helps.
_TOO_MUCH = re.compile(r"request too large|must be reduced", re.I)
_NO_MODEL = re.compile(
    r"model.{0,80}(not.?found|does not exist|not supported|is not available)|access to model|model_not_found|not_found",
    re.I | re.S,
)
_LIKE_A_KEY = re.compile(r"\b(?=[\w-]*\d)[\w-]{12,}|\S*\*\*\S*")
#: “Billing” alone says nothing: who only has to wait is told as well where more can be bought.
_NO_CREDIT = re.compile(r"insufficient_quota|credit balance|billing_(error|hard_limit)|payment required", re.I)
_BAD_KEY = re.compile(r"API_KEY_INVALID|API key (not valid|expired)", re.I)
_NO_TOOLS = re.compile(
    r"(does not|doesn't|not|found that) support.{0,20}(tool|function.call)|tools? param"
    r"|(tool|function).?(choice|use|call).{0,60}(requires|support|enable)",
    re.I,
)
_BOUND = re.compile(r"signature.{0,40}thinking|thinking.{0,60}(cannot be modified|different conversation)", re.I | re.S)
#: What the model said was no call; the provider says so instead of handing it on.
_GARBLED = re.compile(r"tool_use_failed|json_validate_failed", re.I)
#: What an error inside a stream calls itself, which has no status of its own.
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


def failure_of(error: Exception, provider: str, model: str) -> Failure:
    if isinstance(error, Unusable):
        return error.failure
    status, said, marks = status_of(error), _said(error), _marks(error)
    if status is None:
        return _without_a_status(error, provider, said)
    if status == 401 or (status == 403 and not _NO_MODEL.search(marks)) or _BAD_KEY.search(marks):
        # What the provider says here may repeat a part of the key, or be about something else than the key.
        why = f": {_LIKE_A_KEY.sub('…', said)}" if status == 403 else "."
        message = (
            f"{provider} does not accept the key ({status}){why} Set a good one with `brain keys set {provider}` or in "
            "the environment, and resume."
        )
        return Failure(code="bad_key", message=message, retry=False)
    if status == 402 or _NO_CREDIT.search(marks):
        message = f"The account at {provider} has no credit left: {said} Add some, or choose another model, and resume."
        return Failure(code="no_credit", message=message, retry=False)
    if status == 413 or _is_too_long(status, marks):
        message = f"The conversation is too long for {provider}/{model}: {said} Choose a model that holds more."
        return Failure(code="context_overflow", message=message, retry=False)
    if status == 400 and _GARBLED.search(marks):
        return Failure(code="garbled_reply", message=f"The reply of {provider} was garbled: {said}")
    if status == 404 or (status in (400, 403) and _NO_MODEL.search(marks)):
        message = (
            f"{provider} has no model {model}: {said} `brain models` lists what is configured; if the model is there, "
            "look whether the base URL is right."
        )
        return Failure(code="unknown_model", message=message, retry=False)
    if status == 429:
        message = f"{provider} takes no more requests at the moment: {said}"
        return Failure(code="rate_limited", message=message, retry_after=_pause(error, said))
    if status in (408, 409, 425) or status >= 500:
        message = f"{provider} is not able to answer at the moment ({status}): {said}"
        return Failure(code="model_unavailable", message=message, retry_after=_pause(error, said))
    message = f"{provider} did not take the request ({status}): {said}"
    return Failure(code="bad_request", message=message, retry=False)


def lacks_tools(error: Exception) -> bool:
    """Whether the server says that this model cannot be offered tools."""
    return status_of(error) in (400, 404, 422, 500, 501) and bool(_NO_TOOLS.search(_marks(error)))


def thinking_is_bound(error: Exception) -> bool:
    """Whether what was thought before is refused, because what stood before it is not the same any more."""
    return status_of(error) == 400 and bool(_BOUND.search(_marks(error)))


def complaint(error: Exception) -> str:
    """What the server says against the form of a request; empty if it was not about that."""
    return _marks(error) if status_of(error) in (400, 422, 500) else ""


def status_of(error: Exception) -> int | None:
    """An error event inside a stream has no status of its own, but a number or a name for its kind."""
    number = next((each for each in _numbers(error) if 400 <= each < 600), None)
    if number is not None:
        return number
    names = (str(_inner(error).get(name)) for name in ("code", "type", "status"))
    return next((_STATUS_BY_NAME[name] for name in names if name in _STATUS_BY_NAME), None)


def _numbers(error: Exception) -> list[int]:
    given = [getattr(error, name, None) for name in ("status_code", "code")]
    given += [_inner(error).get(name) for name in ("status_code", "code")]
    return [int(each) for each in given if isinstance(each, int) or (isinstance(each, str) and _NUMBER.fullmatch(each))]


def _is_too_long(status: int, marks: str) -> bool:
    return (status in (400, 422, 500) and bool(_TOO_LONG.search(marks))) or (
        status in (400, 422, 429) and bool(_TOO_MUCH.search(marks))
    )


def _without_a_status(error: Exception, provider: str, said: str) -> Failure:
    name, cause = type(error).__name__, type(error.__cause__).__name__
    if "Timeout" in name:
        return Failure(code="model_unreachable", message=f"{provider} did not answer in time.")
    if "ConnectError" in (name, cause):
        where = "Is the network there? Is the base URL right? A local server must be running."
        return Failure(code="model_unreachable", message=f"{provider} cannot be reached. {where}")
    if any(300 <= each < 400 for each in _numbers(error)):
        message = (
            f"The base URL of {provider} sends its callers elsewhere, where the key must not follow. Name the place "
            "itself, and resume."
        )
        return Failure(code="model_unreachable", message=message, retry=False)
    if isinstance(error, ImportError):
        message = f"The package for {provider} is not installed here: {error}. `make setup` installs it."
        return Failure(code="no_model", message=message, retry=False)
    if _body(error) is not None:
        return Failure(code="model_unavailable", message=f"{provider} broke off its reply: {said}")
    if isinstance(error, LookupError | AttributeError | TypeError | ValueError | RecursionError):
        return Failure(code="garbled_reply", message=f"The reply of {provider} cannot be read ({name}).")
    return Failure(code="stream_cut", message=f"The reply of {provider} broke off before its end ({name}).")


def _pause(error: Exception, said: str) -> float | None:
    return retry_after(error, said, _inner(error).get("details"))


def _body(error: Exception) -> Any:
    """What the server sent. Each SDK has its own name for it, and some servers put it into a list."""
    body = getattr(error, "body", None)
    body = getattr(error, "details", None) if body is None else body
    return body[0] if isinstance(body, list) and body else body


def _inner(error: Exception) -> dict[str, Any]:
    body = _body(error)
    inner = body.get("error", body) if isinstance(body, dict) else body
    return inner if isinstance(inner, dict) else {"message": inner} if isinstance(inner, str) else {}


def _said(error: Exception) -> str:
    """In the server's words, for a person."""
    inner = _inner(error)
    text = inner.get("message") or inner.get("detail") or getattr(error, "message", None) or error
    said = str(text)
    if _PAGE.match(said):
        # What stands between a server and its callers answers with a page.
        said = _TAGS.sub(" ", said[: 20 * _SHOWN])
    said = " ".join(mended(said).split())[:_SHOWN]
    return said if not said or said[-1] in ".!?…" else f"{said}."


def _marks(error: Exception) -> str:
    """All by which a failure can be told from another."""
    inner = _inner(error)
    details = inner.get("details")
    reasons = [each.get("reason") for each in details if isinstance(each, dict)] if isinstance(details, list) else []
    parts = [_said(error), *(inner.get(name) for name in ("code", "type", "status")), *reasons]
    return " ".join(str(part) for part in parts if part)
