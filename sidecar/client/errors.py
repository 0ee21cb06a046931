"""
ClientError         a request didn't succeed; the message is one line for people
├── Refused         the sidecar answered with a problem document; `code` is stable, `status` is the HTTP status
└── Unreachable     no sidecar answered, or none can start
"""

from sidecar.config.errors import EXIT_NO_SIDECAR, UserError


class ClientError(UserError):
    pass


class Refused(ClientError):
    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


class Unreachable(ClientError):
    exit_code = EXIT_NO_SIDECAR


def is_stopping(error: ClientError) -> bool:
    """Whether the sidecar is stopping or gone: another one may answer the same call."""
    return isinstance(error, Unreachable) or (isinstance(error, Refused) and error.code == "stopping")
