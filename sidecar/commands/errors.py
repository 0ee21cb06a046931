"""
CommandFailed       ends the command with one line and an exit code
├── Refused         the sidecar answered with a problem document; `code` is stable, `status` is the HTTP status
└── Unreachable     no sidecar answered

The exit codes of `brain` are stable; scripts rely on them.
"""

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_ALREADY_RUNNING = 3
EXIT_NO_SIDECAR = 4
EXIT_DETACHED = 5
EXIT_CANCELLED = 130
EXIT_BROKEN_PIPE = 141

EXIT_MEANINGS = {
    EXIT_OK: "success; for a task: it completed and no check failed",
    EXIT_FAILED: "the task failed, didn't pass its checks or needs you; or the sidecar refused the request",
    EXIT_USAGE: "invalid command line or setting",
    EXIT_ALREADY_RUNNING: "serve: a sidecar already runs on this data directory",
    EXIT_NO_SIDECAR: "the sidecar can't start or be reached",
    EXIT_DETACHED: "you detached; the task continues",
    EXIT_CANCELLED: "the task was cancelled",
    EXIT_BROKEN_PIPE: "the reader of the output closed it",
}


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
