"""
ModelError
├── NoSuchModel     the name matches no model that can be used here
├── BadChoice       the requested choice is not possible; nothing was changed
└── ModelFailed     a request or reply is unusable; carries the failure to report
"""

from sidecar.wire.base import Wire, optional


class Failure(Wire):
    """Why a model gave no usable reply. A failure is data; it doesn't end a task by itself."""

    code: str
    message: str
    recoverable: bool = True
    #: Whether the same request may succeed if it is repeated.
    retry: bool = True
    #: Seconds that the provider asks to wait first.
    retry_after: float | None = optional()


class ModelError(Exception):
    pass


class NoSuchModel(ModelError):
    pass


class BadChoice(ModelError):
    pass


class ModelFailed(ModelError):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure
