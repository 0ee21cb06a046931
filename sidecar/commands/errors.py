"""
ClientError         a request to the sidecar failed, see `sidecar/client/errors.py`
└── CommandFailed   ends the command with one line and an exit code

The exit codes of `brain` are stable; scripts rely on them.
"""

from sidecar.client.errors import ClientError
from sidecar.config.errors import EXIT_ALREADY_RUNNING
from sidecar.config.errors import EXIT_FAILED as EXIT_FAILED
from sidecar.config.errors import EXIT_NO_SIDECAR as EXIT_NO_SIDECAR
from sidecar.config.errors import EXIT_USAGE as EXIT_USAGE

EXIT_OK = 0
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


class CommandFailed(ClientError):
    def __init__(self, message: str, exit_code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code
