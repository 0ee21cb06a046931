"""Record the journal of this release, so that later releases can be tested against it.

`python packaging/record_journal.py [NAME]` runs a few tasks in a real sidecar, kills it, and writes
`tests/journals/NAME.sql` (the version, unless you name it), with the tasks and events it served in `NAME.json`.
"""

import json
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from sidecar import __version__  # noqa: E402
from tests.e2e.support import RunningSidecar, running_sidecar  # noqa: E402

ASK = {"calls": [{"tool": "run_command", "args": {"command": "true"}}]}
PLAN = {"steps": [{"id": "1", "title": "Write a", "files": ["a.txt"]}, {"id": "2", "title": "Write b", "after": ["1"]}]}
USAGE = {"inputTokens": 100, "outputTokens": 10}


def write(path: str, content: str, **more: object) -> dict[str, Any]:
    return {"calls": [{"tool": "write_file", "args": {"path": path, "content": content}}], **more}


#: What each task's model replies, by agent.
SCRIPTS: dict[str, Any] = {
    "write": {"coder": [write("a.txt", "a\n"), {"text": "written"}], "reviewer": [{"text": "fine"}]},
    "ask": [ASK, {"text": "done"}],
    "plan": {
        "planner": [{"text": json.dumps(PLAN)}],
        "coder": [write("planned.txt", "one\n"), ASK, {"text": "part done"}],
        "reviewer": [{"text": '{"passed": true, "issues": []}'}],
    },
    "budget": [write("paid.txt", "paid\n", usage=USAGE), {"text": "paid", "usage": USAGE}],
    "limit": [write("limit.txt", "1\n"), write("limit.txt", "2\n"), {"text": "done"}],
    "escalate": [
        write("wrong.txt", "wrong\n"),
        {"text": "It is right."},
        *({"text": f"It is right, attempt {number}."} for number in range(2, 9)),
    ],
    "rewind": [write("rewound.txt", "first\n"), {"text": "first"}, {"text": "second"}],
}


def run_tasks(sidecar: RunningSidecar) -> None:
    (sidecar.workspace / "needle.txt").write_text("a needle\n")
    models = {name: sidecar.script(name, replies) for name, replies in SCRIPTS.items()}
    listed = sidecar.wait_for_end(sidecar.execute("list the files"))
    sidecar.post(f"/api/brain/tasks/{listed['id']}/messages", {"text": "search for needle"})
    sidecar.wait_for_end(listed["id"])
    sidecar.wait_for_end(sidecar.execute("ponder the meaning of life"))
    sidecar.wait_for_end(sidecar.execute("write it", models=models["write"], intent="edit_code"))
    cancelled = sidecar.execute("cancel it", models=models["ask"], intent="run_command")
    sidecar.wait_for_status(cancelled, "waiting")
    sidecar.post(f"/api/brain/tasks/{cancelled}/cancel")
    sidecar.wait_for_end(cancelled)
    end_early(sidecar, models)
    for text, script, intent in (("ask me", "ask", "run_command"), ("plan it", "plan", "refactor_code")):
        left_open = sidecar.execute(text, models=models[script], intent=intent, verify="off")
        sidecar.wait_for_status(left_open, "waiting")
    sidecar.post(f"/api/brain/tasks/{left_open}/messages", {"text": "be quick"})


def end_early(sidecar: RunningSidecar, models: dict[str, Any]) -> None:
    """Tasks that stop at a limit, or need a person, or were rewound; you can resume each of them."""
    coder: dict[str, Any] = {"intent": "edit_code", "agentType": "coder", "verify": "off"}
    limits: dict[str, dict[str, Any]] = {"budget": {"maxTokens": 50}, "limit": {"maxIterations": 1}}
    for name, options in limits.items():
        sidecar.wait_for_end(sidecar.execute(f"{name} it", models=models[name], **coder, **options))
    checked = {**coder, "verify": ["exit 1"], "approvals": "auto"}
    sidecar.wait_for_end(sidecar.execute("escalate it", models=models["escalate"], **checked))
    rewound = sidecar.execute("rewind it", models=models["rewind"], **coder)
    sidecar.wait_for_end(rewound)
    sidecar.post(f"/api/brain/tasks/{rewound}/rewind", {"seq": 6})


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else __version__
    target = ROOT / "tests" / "journals"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        with running_sidecar(Path(directory)) as sidecar:
            run_tasks(sidecar)
            tasks = sidecar.get("/api/brain/tasks?limit=200").json["tasks"]
            events = {task["id"]: sidecar.events(task["id"]) for task in tasks}
            sidecar.kill()
            shutil.copytree(sidecar.data_dir, Path(directory) / "copy")
        connection = sqlite3.connect(Path(directory) / "copy" / "journal.db")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        lines = ["PRAGMA auto_vacuum = INCREMENTAL;", *connection.iterdump(), f"PRAGMA user_version = {version};"]
        connection.close()
    (target / f"{name}.sql").write_text("\n".join(lines) + "\n")
    served = {"tasks": tasks, "events": events, "scripts": SCRIPTS}
    (target / f"{name}.json").write_text(json.dumps(served, indent=1) + "\n")
    print(f"Wrote tests/journals/{name}.sql and .json")


if __name__ == "__main__":
    main()
