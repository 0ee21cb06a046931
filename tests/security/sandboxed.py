"""A workbench whose commands run in a chosen sandbox tier."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.workbench import Workbench
from tools.executor.executor import Executor
from tools.ledger import Outcome
from tools.local.backend import LocalBackend
from tools.local.confinement import CommandLimits
from tools.local.sandbox.access import SandboxTier
from tools.local.sandbox.bubblewrap import Bubblewrap
from tools.local.sandbox.landlock import Landlock
from tools.local.sandbox.probe import Sandboxes, works
from tools.policy.policy import Policy

WRITER = """
import os, sys
for path in sys.argv[1:]:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    try:
        open(path, "w").write("planted")
    except OSError:
        pass
    print("went on")
"""


def _tier(name: str) -> SandboxTier | None:
    found = make_tier(name)
    if name != "none" and found is None:
        pytest.skip(f"this machine has no {name}")
    return found


def make_tier(name: str) -> SandboxTier | None:
    """The sandbox of that name; `None` if it doesn't work here."""
    if name == "bubblewrap":
        program = shutil.which("bwrap")
        found: SandboxTier | None = None if program is None else Bubblewrap(program)
    else:
        found = Landlock() if name == "landlock" and sys.platform == "linux" else None
    return found if found is not None and works(found) else None


def sandboxes_of(tier: str) -> Sandboxes:
    sandboxes = Sandboxes()
    sandboxes._found, sandboxes._looked = _tier(tier), True
    # Also for our own searches: not every machine has both.
    sandboxes._reader, sandboxes._reader_looked = sandboxes._found, True
    return sandboxes


class SandboxedWorkbench(Workbench):
    def __init__(self, root: Path, tier: str) -> None:
        super().__init__(root)
        self.sandboxes = sandboxes_of(tier)
        self.backend = LocalBackend(self.registry, self.data_dir, sandboxes=self.sandboxes, limits=CommandLimits())
        self.executor = Executor(self.registry, [self.backend], Policy())
        subprocess.run(["git", "init", "-q", str(self.workspace)], check=True)
        self.write("make.py", WRITER)

    async def plant(self, *paths: str) -> Outcome:
        """The names do not stand in the command line."""
        self.write("names.txt", "\n".join(paths))
        return await self.call("run_command", command=["sh", "-c", "xargs python3 make.py < names.txt"])
