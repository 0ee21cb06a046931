"""
ModelError
├── NoSuchModel     a name that stands for no model that can be used here
├── BadChoice       what was asked for cannot be chosen; nothing was changed
└── Unusable        what a provider sent, or what is to be sent to it, cannot be used; carries the failure to report
"""

from sidecar.models.port import Failure


class ModelError(Exception):
    pass


class NoSuchModel(ModelError):
    pass


class BadChoice(ModelError):
    pass


class Unusable(ModelError):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure
