"""
CommandFailed       ends the command: one line for the person, and an exit code
├── Refused         the sidecar answered with a problem document; `code` is stable, `status` an HTTP status
└── Unreachable     no sidecar answered
"""

from sidecar.commands.exits import EXIT_FAILED, EXIT_NO_SIDECAR


class CommandFailed(Exception):
    def __init__(self, message: str, exit_code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Refused(CommandFailed):
    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


class Unreachable(CommandFailed):
    def __init__(self, message: str) -> None:
        super().__init__(message, EXIT_NO_SIDECAR)
