"""
JournalError
├── UnknownTask       no task has that id
├── WrongStatus       the task is not in a status that allows the change; `status` says which one it has
├── CursorLost        events after that cursor were pruned, or the journal never got there
├── DuplicateRecord   a record with that kind and key is there already
├── WrittenElsewhere  another process wrote to the task, and this one hasn't read it yet
├── LeaseLost         another worker has claimed the task since; stop working on it
├── QueueFull         the queue has reached its limit
├── JournalStalled    the disk takes no writes now; nothing is lost, and the writer keeps trying
├── JournalClosed     the journal was closed
├── CannotOpen        the file can't be opened
└── JournalTooNew     the file was written by a newer version
"""

from sidecar.config.errors import EXIT_NO_SIDECAR, UserError
from sidecar.wire.tasks import Status
from sidecar.wire.text import plural


class JournalError(UserError):
    exit_code = EXIT_NO_SIDECAR


class UnknownTask(JournalError):
    def __init__(self, task_id: str) -> None:
        super().__init__(f"There is no task {task_id}.")
        self.task_id = task_id


class WrongStatus(JournalError):
    def __init__(self, task_id: str, status: Status) -> None:
        super().__init__(f"Task {task_id} is {status}.")
        self.task_id = task_id
        self.status = status


class CursorLost(JournalError):
    def __init__(self, after: int) -> None:
        super().__init__(
            f"The journal no longer has all events after {after}. List the tasks, then follow again without `after`."
        )


class DuplicateRecord(JournalError):
    def __init__(self) -> None:
        super().__init__("There is already a record of that kind and key.")


class WrittenElsewhere(JournalError):
    def __init__(self, task_id: str) -> None:
        super().__init__(f"Another process wrote to task {task_id}.")


class LeaseLost(JournalError):
    def __init__(self, task_id: str) -> None:
        super().__init__(f"Task {task_id} was claimed by another worker.")


class QueueFull(JournalError):
    def __init__(self, limit: int) -> None:
        super().__init__(f"The queue is full: {plural(limit, 'task')}.")


class JournalStalled(JournalError):
    pass


class JournalClosed(JournalError):
    def __init__(self) -> None:
        super().__init__("The journal is closed.")


class JournalTooNew(JournalError):
    pass


class CannotOpen(JournalError):
    pass
