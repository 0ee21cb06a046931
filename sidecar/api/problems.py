"""Refusals as problem documents. The one place where exceptions become HTTP answers."""

import logging

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sidecar.engine.errors import OperationRefused
from sidecar.journal.errors import JournalClosed, JournalStalled, UnknownTask
from sidecar.wire.system import FieldProblem, Problem

log = logging.getLogger(__name__)

TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported media type",
    422: "Not usable",
    426: "Upgrade required",
    429: "Too many requests",
    500: "Internal error",
    503: "Not available now",
}


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    errors: list[FieldProblem] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    body = Problem(title=TITLES.get(status, "Error"), status=status, detail=detail, code=code, errors=errors)
    return Response(body.to_json(), status, headers, media_type="application/problem+json")


def retry_later(status: int, code: str, detail: str, seconds: int) -> Response:
    return problem(status, code, detail, headers={"Retry-After": str(seconds)})


async def answer_exception(request: Request, error: Exception) -> Response:
    match error:
        case OperationRefused(retry_after=int(seconds)):
            return retry_later(error.status, error.code, error.message, seconds)
        case OperationRefused():
            return problem(error.status, error.code, error.message)
        case UnknownTask():
            return problem(404, "unknown_task", f"{error} It may have been dropped; GET /api/brain/tasks lists them.")
        case JournalStalled():
            return retry_later(503, "journal_stalled", str(error), 5)
        case JournalClosed():
            return retry_later(503, "stopping", "The sidecar is stopping; nothing was done. Start it and try again.", 2)
        case HTTPException(status_code=404):
            return problem(404, "not_found", f"There is nothing at {request.url.path}; see /openapi.json.")
        case HTTPException(status_code=405):
            detail = f"{request.method} is not possible at {request.url.path}; see /openapi.json."
            return problem(405, "method_not_allowed", detail, headers=dict(error.headers or {}))
        case HTTPException():
            return problem(error.status_code, "http_error", str(error.detail))
        case _:
            log.exception("A request failed: %s %s", request.method, request.url.path, exc_info=error)
            detail = "Something went wrong inside the sidecar; its log has the details. Tasks are not affected."
            return problem(500, "internal_error", detail)


def invalid(error: ValidationError) -> Response:
    kinds = {item["type"] for item in error.errors(include_url=False, include_input=False)}
    if "json_invalid" in kinds:
        return problem(400, "malformed_json", f"The body is not JSON: {error.errors()[0]['msg']}.")
    errors = [
        FieldProblem(field=".".join(str(part) for part in item["loc"]), message=item["msg"])
        for item in error.errors(include_url=False, include_input=False, include_context=False)[:20]
    ]
    told = "; ".join(f"{item.field or 'body'}: {item.message}" for item in errors[:3])
    return problem(422, "invalid_request", f"The request was not taken. {told}.", errors=errors)
