"""The Python client: `BrainService(url, token).execute("run the tests")`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidecar.client.errors import ClientError, Refused, Unreachable
    from sidecar.client.service import BrainService, TaskHandle

__all__ = ["BrainService", "ClientError", "Refused", "TaskHandle", "Unreachable"]


def __getattr__(name: str) -> Any:
    # On first use: `brain serve` needs only the errors, and HTTP would slow its start.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sidecar.client import errors, service

    return getattr(service, name, None) or getattr(errors, name)
