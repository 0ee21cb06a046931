"""
EngineError
├── Refused         an operation that does not fit the task as it is; `code` is stable, `status` an HTTP status
└── StepFailed      a step failed for good; `code` and `recoverable` go to the task as they are
"""


class EngineError(Exception):
    pass


class Refused(EngineError):
    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after


class StepFailed(EngineError):
    def __init__(self, code: str, message: str, *, recoverable: bool) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.recoverable = recoverable
