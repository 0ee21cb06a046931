"""The address and key of a provider."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sidecar.models.limits import bound_errors

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Access:
    provider: str
    #: Kept out of logs and tracebacks.
    key: str | None = field(repr=False)
    base_url: str | None
    #: Between two reads; `limits.py` bounds the reply as a whole.
    timeout: float = 600.0
    connect_timeout: float = 10.0

    @property
    def http(self) -> dict[str, Any]:
        """Arguments of the SDK's HTTP client."""
        # A redirect would carry the key and the conversation to another server.
        made: dict[str, Any] = {"follow_redirects": False, "event_hooks": {"response": [bound_errors]}}
        if self.base_url is not None and is_local(self.base_url):
            # Never use a proxy between two programs on this machine.
            made |= {"trust_env": False, "mounts": dict.fromkeys(("all://", "http://", "https://"))}
        return made


#: Path that the SDK appends itself; people often paste the whole address.
_ADDED = {"anthropic": ("/v1",), "gemini": ("/v1beta", "/v1"), "groq": ("/openai/v1",)}


def is_address(base_url: str) -> bool:
    try:
        place = urlsplit(base_url)
        return place.scheme in ("http", "https") and bool(place.hostname) and place.port != 0
    except ValueError:
        return False


def root(provider: str, base_url: str) -> str:
    """The base URL without the path that the SDK appends."""
    plain = base_url.rstrip("/")
    for added in _ADDED.get(provider, ()):
        plain = plain.removesuffix(added)
    return plain


def is_local(base_url: str) -> bool:
    try:
        place = urlsplit(base_url)
        return place.scheme == "http" and place.hostname in _LOOPBACK
    except ValueError:
        return False
