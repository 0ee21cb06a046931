"""A directory for what commands put aside, in the tiers that cannot give them a `/tmp` of their own."""

import shutil
import tempfile
import weakref


def directory_of(owner: object) -> str:
    """One for all commands of this process, gone with its owner."""
    place = tempfile.mkdtemp(prefix="brain-")
    weakref.finalize(owner, shutil.rmtree, place, ignore_errors=True)
    return place
