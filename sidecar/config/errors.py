"""Errors whose text is for you, and the exit codes of commands that fail with them."""

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_ALREADY_RUNNING = 3
EXIT_NO_SIDECAR = 4


class UserError(Exception):
    """A command that fails with it prints the text and ends with the exit code."""

    exit_code = EXIT_FAILED


class UsageError(UserError):
    """A setting, file or argument can't be used; the text says what to change."""

    exit_code = EXIT_USAGE
