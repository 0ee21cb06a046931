"""Standards and skills: agents propose their text, and nothing is written until a person accepts it."""

from pathlib import Path

import pytest

from sidecar.memory.notes import Note, Notes
from sidecar.memory.past_tools import ProposeNote, ProposeNoteArguments
from sidecar.memory.proposals import problem_with, render_diff, write_proposal
from tools.errors import ToolError
from tools.local.backend import LocalBackend
from tools.spec import Call

SKILL = "---\nname: release\ndescription: How we release\n---\nTag, then push.\n"


def proposed(workspace: Path, kind: str, title: str, text: str) -> Note:
    return Note("n_1", str(workspace), kind, title, text, "proposed", "c_1", 0.0)  # type: ignore[arg-type]


def test_accepting_writes_the_file_that_the_diff_shows(tmp_path: Path) -> None:
    (tmp_path / ".brain/standards").mkdir(parents=True)
    (tmp_path / ".brain/standards/errors.md").write_text("Say what happened.\n")
    note = proposed(tmp_path, "standards", "errors", "Say what happened.\nSay what to do next.")
    diff = render_diff(note)
    assert "--- a/.brain/standards/errors.md" in diff and "+Say what to do next." in diff
    write_proposal(note)
    assert (tmp_path / ".brain/standards/errors.md").read_text() == "Say what happened.\nSay what to do next.\n"
    skill = proposed(tmp_path, "skills", "release", SKILL)
    assert render_diff(skill).startswith("--- /dev/null\n+++ b/.brain/skills/release/SKILL.md\n")
    write_proposal(skill)
    assert (tmp_path / ".brain/skills/release/SKILL.md").read_text() == SKILL


def test_a_link_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    (workspace / ".brain").mkdir(parents=True)
    outside.mkdir()
    (workspace / ".brain/standards").symlink_to(outside)
    with pytest.raises(ToolError):
        write_proposal(proposed(workspace, "standards", "errors", "x"))
    assert not list(outside.iterdir())


@pytest.mark.parametrize("title", ["../../etc/passwd", "a/b", "A b", "", ".hidden", "x" * 80, "a\n"])
def test_a_title_that_is_no_plain_name_is_refused(title: str) -> None:
    assert problem_with("standards", title, "text")


def test_a_skill_needs_a_description(tmp_path: Path) -> None:
    assert problem_with("skills", "release", "Tag, then push.")
    assert problem_with("skills", "release", SKILL) == ""
    assert problem_with("decisions", "Any title at all", "text") == ""


async def test_an_agents_proposal_changes_no_file(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    notes = Notes(tmp_path / "data")
    host = LocalBackend((), tmp_path / "data").host(str(workspace))
    args = ProposeNoteArguments(collection="standards", title="errors", text="Say what to do next.")
    await ProposeNote(notes).run(args, host, Call("c_1", str(workspace), 10.0), lambda text: None)
    assert [(note.kind, note.state) for note in notes.list(str(workspace))] == [("standards", "proposed")]
    assert not list(workspace.iterdir())
