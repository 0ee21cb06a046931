"""What an agent reads about the workspace."""

import json
import subprocess
from pathlib import Path

from sidecar.memory.local import LocalMemory
from sidecar.memory.port import SearchRequest
from sidecar.memory.skills import Skills
from sidecar.models.port import UserTurn
from sidecar.work.context import CONTEXT_BYTES
from sidecar.work.customizations import Customizations
from sidecar.work.knowledge import Knowledge
from tests.support.engine import engine_harness
from tests.support.first_request import first_request, request_text
from tests.waiting import SECONDS


async def test_little_is_included_however_large_the_workspace(tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        for number in range(300):
            folder = harness.workspace / f"folder_with_a_long_name_{number:03}"
            folder.mkdir()
            for name in ("one", "two", "three"):
                (folder / f"{name}_{'x' * 60}.py").write_text("")
        (harness.workspace / "AGENTS.md").write_text("Ä rule. " * 5_000)
        (harness.workspace / "CLAUDE.md").write_text("Another rule. " * 5_000)
        (harness.workspace / "big.py").write_text("x = 1\n" * 50_000)
        subprocess.run(["git", "init", "-q"], cwd=harness.workspace, check=True)
        task = "fix @big.py"
        selection = "def selected(): ..."
        open_files = [f"src/{'y' * 80}{number}.py" for number in range(200)]
        context = {"selectedCode": selection, "currentFile": "big.py", "openFiles": open_files}
        request = await first_request(harness, task, context)
    about = request.history[0]
    assert isinstance(about, UserTurn)
    told, _, rest = about.text.partition("The user selected")
    assert selection in rest
    assert len(json.dumps(told, ensure_ascii=False).encode()) <= CONTEXT_BYTES + 10
    assert request.history[-1] == UserTurn(text=task)


async def test_the_files_nearest_to_the_task_and_the_skills_are_included_once_the_workspace_is_indexed(
    tmp_path: Path,
) -> None:
    memory = LocalMemory(tmp_path / "data", "off")
    skills = tmp_path / "config" / "skills"
    for number in range(30):
        (skills / f"skill-{number:02}").mkdir(parents=True)
        (skills / f"skill-{number:02}" / "SKILL.md").write_text(
            f"---\nname: skill-{number:02}\ndescription: How to do the thing of number {number} well.\n---\nDo it.\n"
        )
    knowledge = Knowledge(memory, skills=Skills(tmp_path / "config", lambda workspace: False))
    async with engine_harness(tmp_path, knowledge=knowledge) as harness:
        for number in range(40):
            (harness.workspace / f"module_{number}.py").write_text(f"def function_{number}(): ...\n")
        (harness.workspace / "invoices.py").write_text("def render_invoice(): ...\n")
        before = request_text(await first_request(harness, "fix the rendering of invoices"))
        await memory.search(str(harness.workspace), SearchRequest("invoice"), SECONDS)
        request = await first_request(harness, "fix the rendering of invoices")
    await memory.close()
    assert "nearest to the task" not in before
    about = request.history[0]
    assert isinstance(about, UserTurn)
    assert "invoices.py: render_invoice" in about.text
    assert "skill-00: How to do the thing of number 0 well." in about.text and "… " in about.text
    assert len(json.dumps(about.text, ensure_ascii=False).encode()) <= CONTEXT_BYTES + 10


async def test_selection_open_files_mentions_and_git_state_are_included(tmp_path: Path) -> None:
    trusted: list[str] = []
    customizations = Customizations(None, lambda workspace: workspace in trusted)
    async with engine_harness(tmp_path, customizations=customizations) as harness:
        (harness.workspace / "src").mkdir()
        (harness.workspace / "src" / "a.py").write_text("MARKER = 1\n")
        subprocess.run(["git", "init", "-q", "-b", "topic"], cwd=harness.workspace, check=True)
        context = {"selectedCode": "selected = True", "currentFile": "src/a.py", "openFiles": ["src/b.py"]}
        task = "look at @src/a.py and @no/such.py, mail me@example.com"
        text = request_text(await first_request(harness, task, context))
        assert "?? src/" not in text, "Git is not started in a workspace that is not trusted"
        trusted.append(str(harness.workspace))
        text = request_text(await first_request(harness, task, context))
    for expected in ("branch topic", "?? src/", "selected = True", "src/b.py", "MARKER = 1", "src/ (a.py)"):
        assert expected in text, expected


async def test_whatever_is_mentioned_is_shown_or_said_to_be_missing(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, customizations=Customizations(None, lambda workspace: True)) as harness:
        (harness.workspace / "app" / "[id]").mkdir(parents=True)
        (harness.workspace / "app" / "[id]" / "page.tsx").write_text("PAGE")
        (harness.workspace / "my notes.md").write_text("NOTES")
        (harness.workspace / "lines.py").write_text("\n    two\nthree\n")
        (harness.workspace / "code.py").write_text("def computed():\n    return 1\n")
        (harness.workspace / "x.bin").write_bytes(b"\0\1")
        for mention, expected in {
            "@app": "[id]/",
            "(see @app/[id]/page.tsx)": "PAGE",
            '@"my notes.md"': "NOTES",
            "@lines.py:2": "```\n    two\n```",
            "@lines.py#L2-L3.": "```\n    two\nthree\n```",
            "@computed": "code.py:1 function computed",
            "@nowhere.py": "not shown: nowhere.py (no file or folder)",
            "@../x": "not shown: ../x (outside the workspace)",
            "@x.bin": "not shown: x.bin (binary)",
        }.items():
            text = request_text(await first_request(harness, f"look at {mention}"))
            assert expected in text, (mention, text)
