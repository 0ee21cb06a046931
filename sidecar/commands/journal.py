"""`brain journal copy`: copy the tasks and notes of this machine to a database."""

import argparse
import asyncio
import os
import sys

from sidecar.commands.errors import EXIT_USAGE, CommandFailed
from sidecar.commands.parser import data_dir
from sidecar.config.data_dir import AlreadyRunning, DataDir
from sidecar.wire.text import plural


def journal(args: argparse.Namespace) -> int:
    from sidecar.journal.postgres.copy import copy_journal
    from sidecar.memory.notes import Notes
    from sidecar.memory.shared_notes import SharedNotes

    url = args.to or os.environ.get("BRAIN_DATABASE_URL", "")
    if not url:
        problem = "Say where to: brain journal copy --to postgresql://…, or set BRAIN_DATABASE_URL."
        raise CommandFailed(problem, EXIT_USAGE)
    data = DataDir(data_dir(args))
    if not data.journal.exists():
        raise CommandFailed(f"There is no journal in {data.path}. Nothing was changed.", EXIT_USAGE)
    try:
        data.lock()
        copied = asyncio.run(copy_journal(data.journal, url))
        notes, known = SharedNotes(url).copy(Notes(data.path))
    except AlreadyRunning as error:
        raise CommandFailed(f"Stop the sidecar first (`brain stop`): {error}", EXIT_USAGE) from error
    print(f"Copied {plural(copied.copied, 'task')}; {copied.present} there already.")
    print(f"Copied {plural(notes, 'note')}; {known} there already.")
    for name in copied.source:
        print(f"{name:<8} {copied.source[name]:>9} in the file {copied.target[name]:>9} in the database")
    if copied.different:
        print(f"Left alone, because they differ in the database: {', '.join(copied.different[:20])}", file=sys.stderr)
    return 0 if not copied.different else 1
