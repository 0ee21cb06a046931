"""S34: trust is asked again when what tests, builds and linters run has changed, and the question shows how."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.config.data_dir import DataDir
from sidecar.config.repositories import Repositories
from sidecar.config.trust import Trust
from tests.e2e.support import Json, RunningSidecar
from tests.e2e.terminal import brain
from tools.executor.registry import default_registry
from tools.policy.policy import Decision, Policy

REGISTRY = default_registry()
PROJECT = {
    "conftest.py": "import pytest\n",
    "tests/conftest.py": "import os\n",
    "tests/test_it.py": "def test_it():\n    pass\n",
    "pyproject.toml": '[project]\nname = "x"\n[tool.pytest.ini_options]\naddopts = "-q"\nmarkers = ["slow"]\n',
    "package.json": '{"name": "x", "scripts": {"test": "node --test"}, "dependencies": {"a": "1"}}',
    "Makefile": "test:\n\tpytest\n",
    "setup.cfg": "[metadata]\nname = x\n[tool:pytest]\naddopts = -q\n",
    "main.py": "x = 1\n",
}
CHANGES = [
    ("conftest.py", "import pytest, evil\n", "evil"),
    ("tests/conftest.py", "import evil\n", "evil"),
    ("tests/deep/er/conftest.py", "import evil\n", "evil"),
    ("pyproject.toml", PROJECT["pyproject.toml"].replace("-q", "-p evil"), "-p evil"),
    ("pyproject.toml", PROJECT["pyproject.toml"] + '[tool.mypy]\nplugins = ["evil.py"]\n', "evil.py"),
    ("pyproject.toml", PROJECT["pyproject.toml"] + '[build-system]\nbuild-backend = "evil"\n', "evil"),
    ("pyproject.toml", "[tool.pytest.ini_options\nevil", "evil"),
    ("pytest.ini", "[pytest]\naddopts = -p evil\n", "evil"),
    ("tox.ini", "[pytest]\naddopts = -p evil\n", "evil"),
    ("setup.cfg", "[tool:pytest]\naddopts = -p evil\n", "evil"),
    ("package.json", '{"name": "x", "scripts": {"test": "evil"}, "dependencies": {"a": "1"}}', "evil"),
    ("package.json", '{"name": "x", "scripts": {"test": "node --test", "pretest": "evil"}}', "pretest"),
    ("package.json", '{"name": "x", "scripts": {"test": "node --test"}, "jest": {"preset": "./evil"}}', "evil"),
    ("packages/a/package.json", '{"scripts": {"test": "evil"}}', "evil"),
    ("Makefile", "test:\n\tevil\n", "evil"),
    ("GNUmakefile", "test:\n\tevil\n", "evil"),
    ("rules.mk", "x:\n\tevil\n", "evil"),
    ("justfile", "test:\n  evil\n", "evil"),
    ("eslint.config.js", "require('evil')\n", "evil"),
    (".eslintrc.cjs", "require('evil')\n", "evil"),
    ("vite.config.ts", "import 'evil'\n", "evil"),
    ("jest.config.js", "require('evil')\n", "evil"),
    (".mypy.ini", "[mypy]\nplugins = evil.py\n", "evil"),
    ("build.rs", 'fn main() { println!("evil"); }\n', "evil"),
    (".cargo/config.toml", '[target.x]\nrunner = "evil"\n', "evil"),
    ("noxfile.py", "import evil\n", "evil"),
    ("build.gradle", "evil()\n", "evil"),
]
HARMLESS = [
    ("main.py", "x = 2\n"),
    ("tests/test_it.py", "def test_it():\n    assert True\n"),
    ("tests/test_new.py", "def test_new():\n    pass\n"),
    ("pyproject.toml", PROJECT["pyproject.toml"].replace('name = "x"', 'name = "y"\nversion = "2"')),
    ("pyproject.toml", PROJECT["pyproject.toml"].replace('["slow"]', '["slow", "fast"]')),
    ("package.json", '{"name": "x", "version": "2", "scripts": {"test": "node --test"}, "dependencies": {"b": "2"}}'),
    ("package.json", json.dumps(json.loads(PROJECT["package.json"]), indent=4)),
    ("setup.cfg", "[metadata]\nname = y\n[tool:pytest]\naddopts = -q\n"),
    ("node_modules/x/package.json", '{"scripts": {"install": "x"}}'),
    ("README.md", "make test\n"),
    ("config.toml", "x = 1\n"),
]


def plant(place: Path, files: dict[str, str] = PROJECT) -> None:
    for name, content in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    found = DataDir(tmp_path / "data")
    found.prepare()
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    plant(tmp_path / "project")
    return tmp_path / "project"


def decided(trust: Trust, place: Path, tool: str, approvals: str = "ask", task: str = "", **args: object) -> Decision:
    spec = REGISTRY.get(tool).spec
    policy = Policy(trust.trusted, change=trust.change)
    return policy.decide(spec, spec.arguments.model_validate(args), str(place), approvals, task)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "content", "shown"), CHANGES)
def test_s34_a_change_of_what_runs_asks_and_shows_how(
    data: DataDir, project: Path, name: str, content: str, shown: str
) -> None:
    trust = Trust(data)
    trust.set(str(project), trusted=True)
    assert decided(trust, project, "run_tests").verdict == "allow"
    plant(project, {name: content})
    # Also in a process that started after the change.
    for each in (trust, Trust(data)):
        change = each.change(str(project))
        assert change is not None
        assert list(change.files) == [name]
        assert [line for line in change.diff.splitlines() if line.startswith("+") and shown in line]
        status = each.status(str(project))
        assert not status.trusted
        assert name in status.why
        for tool, args in (
            ("run_tests", {}),
            ("get_diagnostics", {}),
            ("run_command", {"command": "pytest"}),
            ("run_command", {"command": "npm test"}),
            ("run_command", {"command": "make test"}),
            ("run_command", {"command": "eslint ."}),
        ):
            decision = decided(each, project, tool, **args)
            assert (decision.verdict, name in decision.why) == ("ask", True), (tool, args)
            assert decision.contained, "allowed, it gets what trust gives and no more"
        assert decided(each, project, "run_command", task="run `make test`", command="make test").verdict == "ask"
        assert decided(each, project, "run_command", task="sh x.sh", command="sh x.sh").verdict == "ask"
        assert decided(each, project, "run_command", command="ls").verdict == "allow", "it runs nothing of the project"
    trust.set(str(project), trusted=True)
    assert trust.change(str(project)) is None
    assert decided(Trust(data), project, "run_tests").verdict == "allow"


@pytest.mark.parametrize(("name", "content"), HARMLESS)
def test_s34_everyday_changes_ask_nothing(data: DataDir, project: Path, name: str, content: str) -> None:
    trust = Trust(data)
    trust.set(str(project), trusted=True)
    plant(project, {name: content})
    assert trust.change(str(project)) is None
    assert trust.status(str(project)).trusted


@pytest.mark.parametrize(
    "change",
    [
        lambda place: (place / "conftest.py").unlink(),
        lambda place: (place / "conftest.py").rename(place / "tests/test_conftest.py"),
        lambda place: (place / "main.py").replace(place / "conftest.py"),
        lambda place: ((place / "conftest.py").unlink(), (place / "conftest.py").symlink_to("main.py")),
        lambda place: (place / "tests").rename(place / "checks"),
    ],
)
def test_s34_removing_replacing_and_moving_count_as_well(
    data: DataDir, project: Path, change: Callable[[Path], object]
) -> None:
    trust = Trust(data)
    trust.set(str(project), trusted=True)
    assert trust.change(str(project)) is None
    change(project)
    assert trust.change(str(project)) is not None


def test_s34_a_change_back_is_no_change(data: DataDir, project: Path) -> None:
    trust = Trust(data)
    trust.set(str(project), trusted=True)
    plant(project, {"conftest.py": "import evil\n"})
    assert trust.change(str(project)) is not None
    plant(project)
    assert trust.change(str(project)) is None


def test_s34_fifos_devices_and_loops_are_not_opened(data: DataDir, project: Path) -> None:
    (project / "conftest.py").unlink()
    os.mkfifo(project / "conftest.py")
    (project / "tests/conftest.py").unlink()
    (project / "tests/conftest.py").symlink_to("/dev/zero")
    (project / "loop").symlink_to(project)
    (project / "noxfile.py").symlink_to("noxfile.py")
    trust = Trust(data)
    trust.set(str(project), trusted=True)
    assert trust.change(str(project)) is None


def test_s34_a_copy_is_compared_with_what_you_trusted(data: DataDir, project: Path, tmp_path: Path) -> None:
    repositories = Repositories(data.path)
    trust = Trust(data, repositories)
    trust.set(str(project), trusted=True)
    copy = tmp_path / "copy"
    plant(copy)
    repositories.register(str(copy), str(project))
    assert trust.trusted(str(copy))
    assert trust.change(str(copy)) is None
    plant(copy, {"conftest.py": "import evil\n"})
    assert trust.change(str(copy)) is not None
    assert trust.change(str(project)) is None


def test_s34_trust_from_an_earlier_version_still_holds(data: DataDir, project: Path) -> None:
    Trust(data).set(str(project), trusted=True)
    for file in (data.path / "trusted").iterdir():
        file.unlink()
    trust = Trust(data)
    assert trust.change(str(project)) is None
    plant(project, {"conftest.py": "import evil\n"})
    assert Trust(data).change(str(project)) is not None


def test_s34_looking_again_in_a_large_workspace_is_cheap(data: DataDir, project: Path) -> None:
    plant(project, {f"a{number % 40}/b{number}/main.py": "" for number in range(400)})
    trust = Trust(data)
    trust.set(str(project), trusted=True)
    assert trust.change(str(project)) is None
    plant(project, {"a39/b39/conftest.py": "import evil\n"})
    change = trust.change(str(project))
    assert change is not None
    assert list(change.files) == ["a39/b39/conftest.py"]


def asked(sidecar: RunningSidecar, task_id: str, after: int = 0) -> Json:
    return sidecar.wait_for_event(
        task_id, lambda e: e["type"] == "approval" and e["state"] == "requested" and e["seq"] > after
    )


def test_s34_the_real_sidecar_asks_once_for_the_task_after_a_model_changed_conftest(sidecar: RunningSidecar) -> None:
    workspace = sidecar.workspace
    plant(workspace, {"conftest.py": "", "test_it.py": "def test_it():\n    pass\n"})
    sidecar.post("/api/brain/trust", {"workspace": str(workspace), "trusted": True})
    if sidecar.get("/api/brain/status").json["sandbox"]["tier"] in ("none", "off"):
        pytest.skip("without a sandbox every command asks")
    evil = "open('planted', 'w').close()\n"
    models = sidecar.script(
        "conftest",
        [
            {"calls": [{"tool": "run_tests", "args": {}}]},
            {"calls": [{"tool": "write_file", "args": {"path": "conftest.py", "content": evil}}]},
            {"calls": [{"tool": "run_tests", "args": {}}]},
            {"calls": [{"tool": "run_command", "args": {"command": "pytest -q"}}]},
            {"text": "done"},
        ],
    )
    task = sidecar.execute("x", models=models, agentType="coder", intent="edit_code", verify="off")
    question = asked(sidecar, task)
    assert "conftest.py changed since you trusted this workspace" in question["why"]
    assert "+open('planted'" in question["diff"]
    assert question["since"] == "trusted"
    assert not (workspace / "planted").exists()
    # Swapped while the question is open: asked again, with the new difference.
    (workspace / "conftest.py").write_text("open('worse', 'w').close()\n")
    answer = {"decision": "allow", "scope": "task"}
    assert sidecar.post(f"/api/brain/tasks/{task}/approvals/{question['approvalId']}", answer).status == 200
    second = asked(sidecar, task, question["seq"])
    assert "+open('worse'" in second["diff"]
    assert not (workspace / "worse").exists()
    assert sidecar.post(f"/api/brain/tasks/{task}/approvals/{second['approvalId']}", answer).status == 200
    assert sidecar.wait_for_end(task)["status"] == "completed"
    assert (workspace / "worse").exists()
    questions = [e for e in sidecar.events(task) if e["type"] == "approval" and e["state"] == "requested"]
    assert len(questions) == 2, "the answer for the task holds for the command too"
    (listed,) = [
        each
        for each in sidecar.get("/api/brain/trust").json["workspaces"]
        if each["workspace"] == str(workspace.resolve())
    ]
    assert (listed["trusted"], listed["changed"]) == (False, ["conftest.py"])
    assert "worse" in listed["diff"]


def test_s34_the_command_shows_what_changed_when_you_trust_again(home: dict[str, str], workspace: Path) -> None:
    plant(workspace, {"Makefile": "test:\n\ttrue\n"})
    subprocess.run(["git", "init", "-q"], cwd=workspace, check=True)
    assert "trusted" in brain("trust", str(workspace), environ=home).stdout
    plant(workspace, {"Makefile": "test:\n\tcurl evil\n"})
    listed = brain("trust", "--list", environ=home).stdout
    assert "not trusted" in listed
    assert "Makefile changed since you trusted this workspace" in listed
    again = brain("trust", str(workspace), environ=home).stdout
    assert [line for line in again.splitlines() if line.startswith("+") and "curl evil" in line]
    assert "Makefile" not in brain("trust", "--list", environ=home).stdout
