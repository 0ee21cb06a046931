"""Tasks with effects that can be counted afterwards, and what must hold however often the sidecar was killed."""

import json
import sqlite3
from pathlib import Path
from typing import Any

from tests.e2e.support import RunningSidecar

TURNS = 6
Json = dict[str, Any]


def script() -> list[Json]:
    """Each turn writes a file, and appends a line by a command that takes its time: a line twice is an effect twice."""
    replies: list[Json] = []
    for turn in range(TURNS):
        content = f"content of turn {turn}\n"
        command = f"echo {turn} >> log.txt; sleep 0.02"
        replies.append(
            {
                "text": f"turn {turn}",
                "calls": [
                    {"tool": "write_file", "args": {"path": f"file{turn}.txt", "content": content}},
                    {"tool": "run_command", "args": {"command": command}},
                ],
            }
        )
    return [*replies, {"text": "done"}]


def start_task(sidecar: RunningSidecar, workspace: Path) -> str:
    workspace.mkdir(exist_ok=True)
    models = sidecar.script("effects", script())
    return sidecar.execute(
        "work",
        context={"workspace": str(workspace)},
        models=models,
        approvals="auto",
        intent="edit_code",
        agentType="coder",
        maxIterations=TURNS + 1,
    )


def check_effects(workspace: Path) -> None:
    """Nothing was done twice; what was written is whole."""
    log = workspace / "log.txt"
    lines = log.read_text().split() if log.exists() else []
    assert len(lines) == len(set(lines)), f"effects doubled: {lines}"
    for file in workspace.glob("file*.txt"):
        assert file.read_text() == f"content of turn {file.stem[4:]}\n"


def check_completed(task: Json, workspace: Path) -> None:
    assert task["status"] == "completed", task
    assert not list(workspace.glob(".*")), "temporary files were left behind"
    assert {file.name for file in workspace.glob("file*.txt")} == {f"file{turn}.txt" for turn in range(TURNS)}


def check_integrity(journal: Path) -> None:
    connection = sqlite3.connect(journal)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    finally:
        connection.close()


class Witness:
    """Remembers what was acknowledged to it, and looks later whether it is still so."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], str] = {}

    def look(self, sidecar: RunningSidecar, task_id: str) -> None:
        events = sidecar.events(task_id)
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        now = {(task_id, event["seq"]): json.dumps(event, sort_keys=True) for event in events}
        for key, event in self._seen.items():
            if key[0] == task_id:
                assert now.get(key) == event, f"an acknowledged event was lost or changed: {key}"
        self._seen |= now
