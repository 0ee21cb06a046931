"""
AgentError          an agent could not do its part; `code` and `recoverable` go to the task as they are
"""


class AgentError(Exception):
    def __init__(self, code: str, message: str, *, recoverable: bool = True, retry: bool = True) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.recoverable = recoverable
        #: Whether the same step may succeed if it is simply tried again.
        self.retry = retry
