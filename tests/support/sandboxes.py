"""The sandbox tiers by name, or a skip where this machine lacks one; and `sandbox.toml`."""

import json
import shutil

import pytest

from tools.local.sandbox.access import SandboxTier
from tools.local.sandbox.bubblewrap import Bubblewrap
from tools.local.sandbox.landlock import Landlock
from tools.local.sandbox.probe import Sandboxes, works


class _OneSandbox(Sandboxes):
    def __init__(self, sandbox: SandboxTier) -> None:
        super().__init__()
        self._sandbox = sandbox

    def best(self) -> SandboxTier | None:
        return self._sandbox


def sandboxes_of(tier: str) -> Sandboxes | None:
    """`none`, `bubblewrap` or `landlock`."""
    if tier == "none":
        return None
    program = shutil.which("bwrap")
    if tier == "bubblewrap" and program is None:
        pytest.skip("bubblewrap is not installed")
    sandbox: SandboxTier = Landlock() if tier == "landlock" else Bubblewrap(str(program))
    if not works(sandbox):
        pytest.skip(f"{tier} does not work here")
    return _OneSandbox(sandbox)


def sandbox_toml(**given: object) -> str:
    return "\n".join(f"{name} = {_toml(value)}" for name, value in given.items())


def _toml(value: object) -> str:
    if not isinstance(value, dict):
        return json.dumps(value)
    return f"{{ {', '.join(f'{json.dumps(name)} = {_toml(each)}' for name, each in value.items())} }}"
