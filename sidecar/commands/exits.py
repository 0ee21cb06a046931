"""What the exit codes of `brain` mean. Scripts may rely on them."""

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_ALREADY_RUNNING = 3
EXIT_NO_SIDECAR = 4
EXIT_DETACHED = 5
EXIT_CANCELLED = 130
EXIT_BROKEN_PIPE = 141

MEANINGS = {
    EXIT_OK: "done; for a task: it completed, and what it changed is verified or could not be checked",
    EXIT_FAILED: "the task failed, did not pass its checks, or needs a person; or the sidecar refused",
    EXIT_USAGE: "the command line or a setting is not usable",
    EXIT_ALREADY_RUNNING: "serve: a sidecar already runs on this data directory",
    EXIT_NO_SIDECAR: "the sidecar cannot start, or cannot be reached",
    EXIT_DETACHED: "you stopped watching; the task goes on",
    EXIT_CANCELLED: "the task was cancelled",
    EXIT_BROKEN_PIPE: "whoever read the output has gone",
}
