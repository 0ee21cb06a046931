"""A crew with scripted agents: three parts, of which one fails twice and recovers, and one conflicts."""

import subprocess
from pathlib import Path
from typing import Any

from tests.e2e.support import RunningSidecar
from tests.support.remotes import ServedProject
from tests.support.remotes import git as remote_git
from tests.waiting import SECONDS

Json = dict[str, Any]
TEST = """from api import greet
from store import load

assert greet(load()) == "Hello Ada"
"""
#: The whole suite.
SUITE = "sh check.sh"


def write(path: str, content: str) -> Json:
    return {"calls": [{"tool": "write_file", "args": {"path": path, "content": content}}]}


def edit(path: str, old: str, new: str) -> Json:
    return {"calls": [{"tool": "edit_file", "args": {"path": path, "oldText": old, "newText": new}}]}


def part(name: str, owner: str, files: list[str], checks: list[str], after: list[str] | None = None) -> Json:
    return {
        "id": name,
        "title": f"Build the {name}",
        "owner": owner,
        "instructions": f"Write {', '.join(files)}.",
        "files": files,
        "checks": checks,
        "after": after or [],
    }


def propose(*parts: Json) -> Json:
    return {"calls": [{"tool": "propose_plan", "args": {"parts": list(parts)}}]}


STORE = 'python3 -c "import store; assert store.load()"'
PLAN = {
    "parts": [
        part("store", "database", ["store.py"], [STORE]),
        part("api", "backend", ["api.py"], ['python3 -c "import api"']),
        part("tests", "qa", ["test_all.py"], ["test -f test_all.py"], ["store", "api"]),
    ]
}
CREW = {
    "strategist": [{"text": "three parts", "calls": [{"tool": "propose_plan", "args": PLAN}]}],
    "architect": [{"calls": [{"tool": "review_plan", "args": {"approved": True}}]}],
    "database": [
        write("store.py", "def load():\n    return 1 / 0\n"),
        {"text": "Done."},
        write("store.py", "def load():\n    return ''\n"),
        {"text": "Done now."},
        write("store.py", "def load():\n    return 'Ada'\n"),
        {"text": "The store loads."},
    ],
    # Both edit the same line of a file that belongs to nobody; whoever is merged second finds another text there.
    "backend": [
        write("api.py", "def greet(name):\n    return f'Hello {name}'\n"),
        edit("notes.txt", "notes\n", "notes of the api\n"),
        {"text": "The API greets."},
    ],
    "qa": [write("test_all.py", TEST), {"text": "The tests are written."}],
}
CREW["database"].insert(4, edit("notes.txt", "notes\n", "notes of the store\n"))


def make_repository(place: Path) -> None:
    git(place, "init", "-q", "-b", "main")
    (place / "notes.txt").write_text("notes\n")
    (place / "check.sh").write_text("[ ! -f test_all.py ] || python3 test_all.py\n")
    git(place, "add", ".")
    git(place, "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "first")


def git(place: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True, timeout=SECONDS)
    return done.stdout


def make_remote(project: ServedProject) -> None:
    """The same repository as a remote."""
    (project.work / "notes.txt").write_text("notes\n")
    (project.work / "check.sh").write_text("[ ! -f test_all.py ] || python3 test_all.py\n")
    project.push("Begin")


def start_on_remote(node: RunningSidecar, project: ServedProject, script: object = CREW, **options: object) -> str:
    chosen: Json = {"crew": True, "approvals": "auto", "verify": [SUITE], **options}
    context = {"repository": {"remote": project.url}}
    return node.execute("Greet whoever the store holds.", context=context, models=node.script("crew", script), **chosen)


def children(node: RunningSidecar, parent: str) -> list[Json]:
    tasks = node.get("/api/brain/tasks?limit=100").json["tasks"]
    return [task for task in tasks if task.get("parent") == parent]


def check_crew_branch(project: ServedProject, task: Json) -> None:
    """One branch with a merge for each part, and what they made."""
    assert (task["status"], task["verified"]) == ("completed", True), task
    branch = task["resultBranch"]
    assert branch == f"brain/{task['id']}"
    assert remote_git(project.bare, "for-each-ref", "--format=%(refname:short)", "refs/heads/brain") == branch
    merges = remote_git(project.bare, "log", "--first-parent", "--format=%s", f"trunk..{branch}").splitlines()
    assert sorted(merges) == [f"Merge: Build the {name}" for name in ("api", "store", "tests")]
    assert project.file(branch, "store.py").endswith("'Ada'")
    names = remote_git(project.bare, "diff", "--name-only", "trunk", branch).splitlines()
    assert names == ["api.py", "notes.txt", "store.py", "test_all.py"]
