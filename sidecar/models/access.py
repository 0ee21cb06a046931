"""Where a provider is, and with which key."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sidecar.models.bounds import bounded

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Access:
    provider: str
    #: Never shown: not in a log, not in a traceback.
    key: str | None = field(repr=False)
    base_url: str | None
    #: Until the next bytes; what a reply as a whole may take is counted elsewhere.
    timeout: float = 600.0
    connect_timeout: float = 10.0

    @property
    def http(self) -> dict[str, Any]:
        """How the SDK's HTTP client is made."""
        # No provider sends a model's callers elsewhere; somebody who does would get the key, and all that was said.
        made: dict[str, Any] = {"follow_redirects": False, "event_hooks": {"response": [bounded]}}
        if self.base_url is not None and is_local(self.base_url):
            # No proxy stands between two programs of one machine, whatever the environment says.
            made |= {"trust_env": False, "mounts": dict.fromkeys(("all://", "http://", "https://"))}
        return made


#: What an SDK puts behind the address by itself; whoever copied a whole address has it there already.
_ADDED = {"anthropic": ("/v1",), "gemini": ("/v1beta", "/v1"), "groq": ("/openai/v1",)}


def is_address(base_url: str) -> bool:
    try:
        place = urlsplit(base_url)
        return place.scheme in ("http", "https") and bool(place.hostname) and place.port != 0
    except ValueError:
        return False


def root(provider: str, base_url: str) -> str:
    """Where the SDK begins."""
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
