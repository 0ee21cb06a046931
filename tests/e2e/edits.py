"""Tasks whose scripted model makes the given edits, in a running sidecar."""

from tests.e2e.support import Json, RunningSidecar


def write(path: str, content: str) -> Json:
    return {"calls": [{"tool": "write_file", "args": {"path": path, "content": content}}]}


def run_edits(sidecar: RunningSidecar, *replies: Json) -> str:
    models = sidecar.script("edit", [*replies, {"text": "done"}])
    task = sidecar.wait_for_end(sidecar.execute("x", models=models, intent="edit_code", agentType="coder"))
    assert task["status"] == "completed", task
    task_id: str = task["id"]
    return task_id
