"""The sidecar that stops itself (SIGSTOP) when it is about to write `hole.txt`, after the intent record is durable.

Run in place of `sidecar`.
"""

import signal
import sys
import threading
from collections.abc import Sequence

from sidecar.cli import main
from tools.errors import ToolError
from tools.host import FileChange
from tools.local import files
from tools.local.root import WorkspaceRoot

_apply = files.apply_changes


def stop_first(root: WorkspaceRoot, changes: Sequence[FileChange]) -> list[ToolError | None]:
    if any(change.path == "hole.txt" for change in changes):
        # To this thread: one that goes to the process lets it run on for a moment.
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    return _apply(root, changes)


if __name__ == "__main__":
    files.apply_changes = stop_first
    sys.exit(main())
