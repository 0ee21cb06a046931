"""Writes down, at a release, the journal of this version: later versions are tested against it.

`python packaging/record_journal.py` runs a few tasks in a real sidecar and leaves `tests/journals/VERSION.sql`, with
what that version said of its tasks beside it.
"""

import json
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from sidecar import __version__  # noqa: E402
from tests.e2e.support import RunningSidecar, running_sidecar  # noqa: E402

ASK = {"calls": [{"tool": "run_command", "args": {"command": "true"}}]}
WRITE = {"calls": [{"tool": "write_file", "args": {"path": "a.txt", "content": "a\n"}}]}


def live(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "needle.txt").write_text("a needle\n")
    listed = sidecar.wait_for_end(sidecar.execute("list the files"))
    sidecar.post(f"/api/brain/tasks/{listed['id']}/messages", {"text": "search for needle"})
    sidecar.wait_for_end(listed["id"])
    sidecar.wait_for_end(sidecar.execute("ponder the meaning of life"))
    models = sidecar.script("write", {"coder": [WRITE, {"text": "written"}], "reviewer": [{"text": "fine"}]})
    sidecar.wait_for_end(sidecar.execute("write it", models=models, intent="edit_code"))
    asking = sidecar.script("ask", [ASK, {"text": "done"}])
    cancelled = sidecar.execute("x", models=asking, intent="run_command")
    sidecar.wait_for_status(cancelled, "waiting")
    sidecar.post(f"/api/brain/tasks/{cancelled}/cancel")
    sidecar.wait_for_end(cancelled)
    left_open = sidecar.execute("x", models=asking, intent="run_command")
    sidecar.wait_for_status(left_open, "waiting")


def main() -> None:
    target = ROOT / "tests" / "journals"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        with running_sidecar(Path(directory)) as sidecar:
            live(sidecar)
            tasks = sidecar.get("/api/brain/tasks?limit=200").json["tasks"]
            events = {task["id"]: sidecar.events(task["id"]) for task in tasks}
            sidecar.kill()
            shutil.copytree(sidecar.data_dir, Path(directory) / "copy")
        connection = sqlite3.connect(Path(directory) / "copy" / "journal.db")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        lines = ["PRAGMA auto_vacuum = INCREMENTAL;", *connection.iterdump(), f"PRAGMA user_version = {version};"]
        connection.close()
    (target / f"{__version__}.sql").write_text("\n".join(lines) + "\n")
    said = {"tasks": tasks, "events": events}
    (target / f"{__version__}.json").write_text(json.dumps(said, indent=1) + "\n")
    print(f"wrote tests/journals/{__version__}.sql and .json")


if __name__ == "__main__":
    main()
