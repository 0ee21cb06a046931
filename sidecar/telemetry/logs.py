"""Logs on standard error, one line each. Standard output is only for the ready line."""

import logging
import os
import sys

from sidecar.telemetry.redaction import Redactor, environment_secrets

#: SDKs that would log every request.
_CLIENTS = ("anthropic", "google_genai", "groq", "openai", "httpx", "httpx2", "httpcore", "httpcore2", "mcp")


def configure(level: str = "INFO") -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    for name in ("uvicorn.error", "uvicorn.access", "sse_starlette", "asyncio", *_CLIENTS):
        logging.getLogger(name).setLevel(logging.WARNING)


class _Redacting(logging.Formatter):
    """Redacts exceptions too."""

    def __init__(self, text: str, clock: str) -> None:
        super().__init__(text, clock)
        self._redact = Redactor(lambda: environment_secrets(os.environ))

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def _is_news(record: logging.LogRecord) -> bool:
    # uvicorn repeats our own message when we close the stream of a slow reader.
    return "without completing response" not in record.getMessage()
