"""A Git remote on loopback with a small project in it, and tasks that work on it."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.support import Json, RunningSidecar
from tests.support.git_server import GitServer, git_server

TOKEN = "canary-git-token-0123456789"
_WHO = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=trunk")


def git(place: Path, *words: str) -> str:
    outside = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", *_WHO, *words], cwd=place, check=True, capture_output=True, text=True, env=outside)
    return done.stdout.strip()


class ServedProject:
    """`bare` is what the server has, `work` a clone that changes it."""

    def __init__(self, server: GitServer, work: Path) -> None:
        self.server = server
        self.work = work
        self.bare = server.root / "app.git"
        self.url = server.url("app.git")

    @property
    def settings(self) -> dict[str, str]:
        """Of a sidecar that may work on it."""
        return {"BRAIN_REMOTES": f"http://localhost:{self.server.port}/*", "BRAIN_GIT_TOKENS": f"localhost={TOKEN}"}

    def push(self, subject: str, branch: str = "trunk") -> None:
        """Commit what `work` has, and push it to the server by its directory."""
        git(self.work, "add", "-A")
        git(self.work, "commit", "-qm", subject)
        git(self.work, "push", "-q", str(self.bare), f"HEAD:refs/heads/{branch}")

    def commits(self, branch: str) -> list[str]:
        """The subjects of the branch's own commits."""
        return git(self.bare, "log", "--format=%s", f"trunk..{branch}").splitlines()

    def file(self, branch: str, path: str) -> str:
        return git(self.bare, "show", f"{branch}:{path}")


@contextmanager
def served_project(tmp_path: Path) -> Iterator[ServedProject]:
    bare, work = tmp_path / "served/app.git", tmp_path / "work"
    bare.mkdir(parents=True)
    work.mkdir()
    git(bare, "init", "-q", "--bare")
    git(bare, "config", "http.receivepack", "true")
    git(work, "init", "-q")
    (work / "greet.py").write_text("def greet():\n    return 'hello'\n")
    (work / "run.sh").write_text("#!/bin/sh\n")
    (work / "run.sh").chmod(0o755)
    (work / ".gitignore").write_text("*.tmp\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "Start")
    git(work, "push", "-q", str(bare), "HEAD:refs/heads/trunk")
    with git_server(tmp_path / "served") as server:
        yield ServedProject(server, work)


class Trigger:
    """Kills a process at the so manieth time of a moment that the Git server sees, once."""

    def __init__(self, project: ServedProject, moment: str, number: int = 1) -> None:
        self.pid = 0
        self._moment = moment
        self._left = number
        project.server.asked = self._asked
        project.server.pushed = lambda: self._kill(self._moment == "pushed")

    def _asked(self, path: str) -> None:
        self._kill(path.endswith(f"git-{self._moment}"))

    def _kill(self, now: bool) -> None:
        self._left -= now
        if now and self._left <= 0 and self.pid:
            os.kill(self.pid, signal.SIGKILL)
            self.pid = 0


def start_edits(node: RunningSidecar, url: str, slow: float = 0.0, **options: object) -> str:
    """A task that edits a file, appends a line by a command, and writes another file."""
    edit = {"path": "run.sh", "oldText": "#!/bin/sh\n", "newText": "#!/bin/sh\necho hi\n"}
    command = f"echo once >> log.txt; echo x > left.tmp; sleep {slow}"
    replies: list[Json] = [
        {"text": "a", "calls": [{"tool": "edit_file", "args": edit}]},
        {"text": "b", "calls": [{"tool": "run_command", "args": {"command": command}}]},
        {"text": "c", "calls": [{"tool": "write_file", "args": {"path": "notes/c.txt", "content": "c\n"}}]},
        {"text": "Said hi"},
    ]
    chosen: Json = {"approvals": "auto", "agentType": "coder", "intent": "edit_code", "verify": "off"}
    return node.execute(
        "say hi",
        context={"repository": {"remote": url}},
        models=node.script("remote", replies),
        **{**chosen, **options},
    )


def check_result(project: ServedProject, task: Json) -> None:
    """One commit with everything, done once."""
    assert task["status"] == "completed", task
    branch = task["resultBranch"]
    assert project.commits(branch) == ["Said hi"]
    assert project.file(branch, "run.sh") == "#!/bin/sh\necho hi"
    assert project.file(branch, "notes/c.txt") == "c"
    assert git(project.bare, "ls-tree", branch, "run.sh").startswith("100755")
    assert "left.tmp" not in git(project.bare, "ls-tree", "-r", "--name-only", branch)
