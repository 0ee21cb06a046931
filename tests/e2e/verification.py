"""A small Python project, and tasks on it whose verification a test reads."""

from typing import Any

from tests.e2e.support import Json, RunningSidecar
from tests.waiting import SECONDS

BUGGY = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
WRONG = "def add(a, b):\n    return a * b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
OTHER = "def test_other():\n    assert True\n"
PASSED = [{"text": '{"passed": true}'}] * 3


def write(path: str, content: str) -> Json:
    return {"calls": [{"tool": "write_file", "args": {"path": path, "content": content}}]}


def delete(path: str) -> Json:
    return {"calls": [{"tool": "delete_file", "args": {"path": path}}]}


def says(text: str) -> Json:
    return {"text": text}


def project(sidecar: RunningSidecar, **files: str) -> None:
    """A small project of Python; `calc__py` is `calc.py`."""
    for name, content in {"calc__py": BUGGY, "test_calc__py": TEST, **files}.items():
        path = sidecar.workspace / name.replace("__", ".").replace("_in_", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)


class VerifiedTask:
    """A finished task, and what its events say of its verification."""

    def __init__(self, sidecar: RunningSidecar, task_id: str) -> None:
        self.task = sidecar.wait_for_end(task_id, seconds=SECONDS)
        self.events = sidecar.events(task_id)
        self.verifications = self._of("verification")
        self.retries = self._of("retry")
        self.escalations = self._of("escalation")

    def _of(self, kind: str) -> list[Json]:
        return [event for event in self.events if event["type"] == kind]

    @property
    def failed(self) -> list[Json]:
        """The checks of the last verification that found fault."""
        return [check for check in self.verifications[-1]["checks"] if not check["passed"]]

    def evidence(self, number: int = -1) -> str:
        return "\n".join(check["evidence"] for check in self.verifications[number]["checks"] if not check["passed"])


def run_verified(
    sidecar: RunningSidecar, replies: list[Json], task: str = "fix the bug in add", name: str = "story", **options: Any
) -> VerifiedTask:
    models = sidecar.script(name, {"coder": replies, "reviewer": PASSED})
    options = {"intent": "edit_code", "approvals": "auto", **options}
    return VerifiedTask(sidecar, sidecar.execute(task, models=models, **options))
