"""Sends traces to an OpenTelemetry collector, as OTLP over HTTP with JSON. Off until you name one."""

import http.client
import json
import os
import ssl
from collections.abc import Mapping
from contextlib import closing
from typing import Any
from urllib.parse import unquote, urlsplit

ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
HEADERS_VARIABLE = "OTEL_EXPORTER_OTLP_HEADERS"
SECONDS = 10.0
_PATH = "/v1/traces"
_MAX_ANSWER = 65_536


class NotExported(Exception):
    """The message says why, without the address's password or the headers."""


def export(document: Mapping[str, Any], endpoint: str, environ: Mapping[str, str] = os.environ) -> None:
    """Follows no redirect: what you send goes only where you said."""
    url = urlsplit(endpoint)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise NotExported("The collector's address must begin with http:// or https://.")
    path = url.path if url.path.endswith(_PATH) else url.path.rstrip("/") + _PATH
    headers = {"Content-Type": "application/json", **_headers(environ.get(HEADERS_VARIABLE, ""))}
    with closing(_connection(url.scheme, url.hostname, url.port)) as connection:
        try:
            connection.request("POST", path, json.dumps(document).encode(), headers)
            response = connection.getresponse()
            said = response.read(_MAX_ANSWER)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NotExported(f"{url.hostname} doesn't answer: {error or type(error).__name__}.") from error
    if not 200 <= response.status < 300:
        raise NotExported(f"{url.hostname} answered {response.status}: {said[:200].decode('utf-8', 'replace')}")
    if rejected := _rejected(said):
        raise NotExported(f"{url.hostname} rejected {rejected} spans.")


def _connection(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=SECONDS, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=SECONDS)


def _headers(text: str) -> dict[str, str]:
    """`name=value` pairs separated by commas; values may be percent-encoded."""
    pairs = (part.partition("=") for part in text.split(",") if "=" in part)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}


def _rejected(said: bytes) -> int:
    try:
        return int(json.loads(said)["partialSuccess"]["rejectedSpans"])
    except (ValueError, KeyError, TypeError):
        return 0
