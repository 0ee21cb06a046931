"""
ModelError
├── NoSuchModel     the name matches no model that can be used here
├── BadChoice       the requested choice is not possible; nothing was changed
└── ModelFailed     a request or reply is unusable; carries the failure to report
"""

from sidecar.models.port import Failure


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
