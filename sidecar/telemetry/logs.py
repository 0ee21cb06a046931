"""Logs go to standard error: one line each, the time first. Standard output belongs to the ready line alone."""

import logging
import os
import sys

from sidecar.telemetry.redaction import Redactor, environment_secrets

#: What the model providers' SDKs log of a request is nobody's business.
_CLIENTS = ("anthropic", "google_genai", "groq", "openai", "httpx", "httpx2", "httpcore", "httpcore2")


def configure(level: str = "INFO") -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(name)s: %(message)s", "%H:%M:%S"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("uvicorn.error").addFilter(_about_us)
    for name in ("uvicorn.error", "uvicorn.access", "sse_starlette", "asyncio", *_CLIENTS):
        logging.getLogger(name).setLevel(logging.WARNING)


class _Redacting(logging.Formatter):
    """Also what an exception says goes through here."""

    def __init__(self, text: str, clock: str) -> None:
        super().__init__(text, clock)
        self._redact = Redactor(lambda: environment_secrets(os.environ))

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def _about_us(record: logging.LogRecord) -> bool:
    # What uvicorn says when a stream is let go because its reader took nothing; we have said so ourselves.
    return "without completing response" not in record.getMessage()
