"""S12, S14, S15: names that decide what runs later are asked about, however they are written."""

from pathlib import Path

import pytest

import tools.protected
from sidecar.engine.errors import OperationRefused
from sidecar.engine.operations import Execute
from sidecar.memory.notes import Note
from sidecar.memory.proposals import render_diff, write_proposal
from sidecar.wire.tasks import Context, ExecuteRequest, HunkRequest
from tests.support.engine import engine_harness
from tests.support.manual_task import ManualTask
from tests.support.workbench import workbench
from tools.errors import PathDenied
from tools.ledger import FileState, IntentRecord, digest
from tools.protected import may_be_protected, protected_folder, protected_part

NAMES = [
    ".git/hooks/pre-commit",
    ".GIT/hooks/x",
    ".git./config",
    ".git /config",
    "sub/.Git/config",
    ".g\u200bit/config",
    "\uff0egit/config",
    "git~1/config",
    ".git::$INDEX_ALLOCATION/config",
    ".ENV",
    ".env.production",
    ".e\u200dnv",
    ".\u0435\u200bnv".replace("\u0435", "e"),
    "packages/a/.Env.local",
    ".vscode/settings.json",
    ".idea/workspace.xml",
    ".github/workflows/ci.yml",
    ".GitHub/Workflows/ci.yml",
    ".gitlab-ci.yml",
    "Jenkinsfile",
    ".mcp.json",
    ".cursor/mcp.json",
    ".husky/pre-push",
    ".npmrc",
    "cafe\u0301/.env",
]


@pytest.mark.parametrize("name", NAMES)
async def test_s12_it_is_asked_about_even_where_nothing_else_is(tmp_path: Path, name: str) -> None:
    async with workbench(tmp_path, approvals="auto") as bench:
        bench.ledger.answer = "deny"
        outcome = await bench.call("write_file", path=name, content="planted")

        assert outcome.error is not None and outcome.error.code == "denied"
        assert len(bench.ledger.questions) == 1
        assert list(bench.workspace.iterdir()) == []


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("create_file", {"path": ".env", "content": "x"}),
        ("edit_file", {"path": ".git/config", "oldText": "a", "newText": "b"}),
        ("move_file", {"from": "a.txt", "to": ".git/hooks/pre-commit"}),
        ("move_file", {"from": ".git/config", "to": "a"}),
        ("delete_file", {"path": ".git/config"}),
        ("apply_patch", {"patch": "--- /dev/null\n+++ b/.vscode/tasks.json\n@@ -0,0 +1 @@\n+x\n"}),
        ("multi_edit", {"path": ".git/config", "edits": [{"oldText": "a", "newText": "b"}]}),
    ],
)
async def test_s14_no_tool_gets_around_it(tmp_path: Path, tool: str, args: dict[str, str]) -> None:
    async with workbench(tmp_path, approvals="auto") as bench:
        bench.write(".git/config", "a")
        bench.write("a.txt", "a")
        bench.ledger.answer = "deny"
        outcome = await bench.call(tool, **args)

        assert outcome.error is not None and outcome.error.code == "denied", outcome.content
        assert bench.read(".git/config") == b"a"
        assert not (bench.workspace / ".env").exists()


@pytest.mark.parametrize(
    "name", ["src/a.py", "env.py", ".gitignore", "git/x", ".env.example", "environment.md", "a.git"]
)
def test_s12_ordinary_names_are_not_asked_about(name: str) -> None:
    assert protected_part(name) is None


async def test_s14_a_link_is_not_another_name_for_it(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="auto") as bench:
        bench.write(".git/hooks/sample", "a")
        bench.write(".env", "KEY=1")
        (bench.workspace / "safe").symlink_to(".git")
        (bench.workspace / "plain.txt").symlink_to(".env")
        bench.ledger.answer = "deny"
        for path in ("safe/hooks/pre-commit", "safe/new/deep/file", "plain.txt"):
            outcome = await bench.call("write_file", path=path, content="planted")
            assert outcome.error is not None and outcome.error.code == "denied", path
        assert len(bench.ledger.questions) == 3
        assert bench.read(".env") == b"KEY=1"


async def test_s14_an_allowed_change_is_made_however_its_path_was_written(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="auto") as bench:
        bench.write(".vscode/tasks.json", "old\n")
        (bench.workspace / "plain.json").symlink_to(".vscode/tasks.json")
        bench.ledger.answer = "allow"
        for name, old, new in (("./plain.json", "old", "new"), (f"{bench.workspace}/plain.json", "new", "newer")):
            outcome = await bench.call("apply_patch", patch=f"--- {name}\n+++ {name}\n@@ -1 +1 @@\n-{old}\n+{new}\n")
            assert outcome.status == "success", outcome.content
        assert bench.read(".vscode/tasks.json") == b"newer\n"
        assert len(bench.ledger.questions) == 2


async def test_s14_a_link_to_what_is_not_there_yet_is_not_another_name_for_it(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="auto") as bench:
        bench.write("docs/a.md", "a")
        (bench.workspace / "notes.yml").symlink_to(".github/workflows/ci.yml")
        (bench.workspace / "settings").symlink_to(".vscode")
        (bench.workspace / "docs/twice").symlink_to("../settings")
        (bench.workspace / "deep").symlink_to("not/there/yet")
        bench.ledger.answer = "deny"
        for path in ("notes.yml", "settings/settings.json", "docs/twice/tasks.json", "deep/.env", "deep/more/.env"):
            outcome = await bench.call("create_file", path=path, content="planted")
            assert outcome.error is not None and outcome.error.code == "denied", path
        assert not [name for name in (".github", ".vscode", "not") if (bench.workspace / name).exists()]
        made = await bench.call("create_file", path="deep/plain.txt", content="x")
        assert made.status == "success" and bench.read("not/there/yet/plain.txt") == b"x"


@pytest.mark.parametrize("act", ["reject", "rewind"])
@pytest.mark.parametrize(
    ("linked", "folder"), [("folder", ".git/hooks"), ("file", ".git/hooks"), ("folder", "tools/checks")]
)
async def test_s14_an_undo_writes_no_protected_file_through_a_link(
    tmp_path: Path, act: str, linked: str, folder: str
) -> None:
    task = ManualTask(tmp_path)
    task.git("init", "-q")
    task.git("config", "core.hooksPath", "tools/checks")
    place, hook = task.workspace / "docs/pre-commit", task.workspace / folder / "pre-commit"
    for file in (place, hook):
        file.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("planted")
    try:
        await task.open()
        start = await task.seq()
        if linked == "folder":
            await task.call("delete_file", {"path": "docs/pre-commit"})
            place.parent.rmdir()
            place.parent.symlink_to(folder)
        else:
            await task.call("write_file", {"path": "docs/pre-commit", "content": "harmless"})
            hook.write_text("harmless")
            place.unlink()
            place.symlink_to("../.git/hooks/pre-commit")
        if act == "rewind":
            assert await task.rewind(start) == ["docs/pre-commit"]
        else:
            (file,) = (await task.engine.review.diff("t_1")).files
            answer = await task.engine.review.decide("t_1", HunkRequest(reject=[file.hunks[0].id]))
            assert f"leads to {folder}/pre-commit" in answer.conflicts[0].why
        assert linked == "file" or not hook.exists()
        assert linked == "folder" or hook.read_text() == "harmless"
    finally:
        await task.close()


async def test_s14_a_change_that_a_crash_cut_short_follows_no_link_that_appeared(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="auto") as bench:
        after = digest(b"planted")
        state = FileState(path="docs/pre-commit", before=None, after=after, mode=None)
        bench.ledger.intents["w"] = IntentRecord(tool="write_file", args={}, backend="local", files=[state])
        bench.ledger.blobs[after] = b"planted"
        (bench.workspace / ".git/hooks").mkdir(parents=True)
        (bench.workspace / "docs").symlink_to(".git/hooks")
        outcome = await bench.call("write_file", "w", path="docs/pre-commit", content="planted")
        assert outcome.status == "error"
        assert not (bench.workspace / ".git/hooks/pre-commit").exists()


async def test_s12_a_quoted_name_of_a_patch_is_the_name_that_it_means(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="auto") as bench:
        bench.write("caf\u00e9.txt", "a\n")
        bench.ledger.answer = "deny"
        named = '"a/caf\\303\\251.txt"\n+++ "b/caf\\303\\251.txt"'
        assert (await bench.call("apply_patch", patch=f"--- {named}\n@@ -1 +1 @@\n-a\n+b\n")).status == "success"
        assert bench.read("caf\u00e9.txt") == b"b\n"
        for name in (r"\056git/hooks/x", r".g\151t/hooks/x", r"a\\.env", r"\056env"):
            outcome = await bench.call("apply_patch", patch=f'--- /dev/null\n+++ "b/{name}"\n@@ -0,0 +1 @@\n+x\n')
            assert outcome.error is not None and outcome.error.code == "denied", name
        assert [file.name for file in bench.workspace.iterdir()] == ["caf\u00e9.txt"]


@pytest.mark.parametrize(
    ("link", "target", "victim"),
    [
        (".brain/standards/errors.md", "../../.git/config", ".git/config"),
        (".brain/standards", "../deploy", "deploy/errors.md"),
        (".brain", "notes", "notes/standards/errors.md"),
    ],
)
def test_s14_accepting_a_proposal_reads_and_changes_no_file_behind_a_link(
    tmp_path: Path, link: str, target: str, victim: str
) -> None:
    for path in (tmp_path / victim, tmp_path / link):
        path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / victim).write_text("SECRET\n")
    (tmp_path / link).symlink_to(target)
    note = Note("n_1", str(tmp_path), "standards", "errors", "planted", "proposed", "c_1", 0.0)
    assert "SECRET" not in render_diff(note)
    with pytest.raises(PathDenied, match=f"leads to {victim}"):
        write_proposal(note)
    assert (tmp_path / victim).read_text() == "SECRET\n"


@pytest.mark.parametrize(
    "folder",
    [".git", ".git/hooks", ".GIT/hooks", ".github", ".github/workflows", ".vscode", "sub/.husky/_", "link", "deep/x"],
)
@pytest.mark.parametrize("repository", [True, False])
async def test_s14_a_folder_that_is_protected_is_no_workspace(tmp_path: Path, folder: str, *, repository: bool) -> None:
    project = tmp_path / "project"
    (project / folder).parent.mkdir(parents=True)
    if folder == "link":
        (project / ".ssh").mkdir()
        (project / folder).symlink_to(".ssh")
    elif folder == "deep/x":
        (project / ".aws/x").mkdir(parents=True)
        (project / "deep").rmdir()
        (project / "deep").symlink_to(".aws")
    else:
        (project / folder).mkdir()
    if repository:
        (project / ".git").mkdir(exist_ok=True)
    async with engine_harness(tmp_path) as harness:
        with pytest.raises(OperationRefused) as refusal:
            await harness.engine.submit(
                Execute(ExecuteRequest(task="write hooks", context=Context(workspace=str(project / folder))))
            )
        assert refusal.value.code == "workspace_protected"
        assert harness.engine.admission.checked_workspace(str(project)) == str(project)


@pytest.mark.parametrize("place", [".claude/worktrees/a/src", ".brain/worktrees/a"])
def test_s14_a_repository_in_such_a_folder_is_a_workspace(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    top = tmp_path / "/".join(place.split("/")[:3])
    assert protected_folder(str(tmp_path / place)) is not None
    (top / ".git").write_text("gitdir: /elsewhere\n")
    assert protected_folder(str(tmp_path / place)) is None


def test_s12_no_name_that_is_protected_is_passed_over_by_the_quick_look() -> None:
    parts = [*tools.protected._DIRECTORIES, *tools.protected._FILE_PATTERNS.split()]
    names = [part.replace("*", "x") for part in parts]
    names += [name.upper() for name in names] + [f"{name}." for name in names] + [f"{name}:x" for name in names]
    for path in (*names, ".ᵉnv", "GIT~1", "a.code-workspace", ".github/workflows/ci", ".GitHub/Workflows/ci"):
        assert protected_part(path), path
        folder, _, name = path.rpartition("/")
        assert may_be_protected(name, folder), path
