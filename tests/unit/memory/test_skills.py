"""The skills library: whose skills are found, and what is read of them."""

from pathlib import Path

import pytest

from sidecar.memory.skills import MAX_BODY, Skills

TEXT = "---\nname: release\ndescription: >\n  Cut a release\n  of this project\n---\n# Steps\n\n1. Tag it.\n"


def write_skill(folder: Path, name: str, text: str = TEXT) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(text)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write_skill(tmp_path / "workspace/.claude/skills", "release")
    return tmp_path / "workspace"


def test_a_skill_of_a_trusted_workspace_is_found_with_its_description(workspace: Path) -> None:
    skills = Skills(None, lambda _: True)
    (skill,) = skills.list(str(workspace))
    assert (skill.name, skill.description) == ("release", "Cut a release of this project")
    assert skills.body(str(workspace), "release") == (skill, "# Steps\n\n1. Tag it.")


def test_an_untrusted_workspace_has_no_skills(workspace: Path) -> None:
    skills = Skills(None, lambda _: False)
    assert skills.list(str(workspace)) == []
    assert skills.body(str(workspace), "release") is None


def test_your_own_skill_hides_one_of_the_workspace(workspace: Path, tmp_path: Path) -> None:
    write_skill(tmp_path / "user/skills", "release", "Mine.")
    skills = Skills(tmp_path / "user", lambda _: True)
    assert [each.shared for each in skills.list(str(workspace))] == [False]
    read = skills.body(str(workspace), "release")
    assert read is not None and read[1] == "Mine."


def test_links_and_other_names_are_no_skills(workspace: Path, tmp_path: Path) -> None:
    write_skill(tmp_path / "outside", "evil")
    folder = workspace / ".brain/skills"
    folder.mkdir(parents=True)
    (folder / "linked").symlink_to(tmp_path / "outside/evil")
    (folder / "half").mkdir()
    (folder / "half/SKILL.md").symlink_to(tmp_path / "outside/evil/SKILL.md")
    write_skill(folder, "bad name")
    assert [each.name for each in Skills(None, lambda _: True).list(str(workspace))] == ["release"]


def test_a_very_long_skill_is_cut(workspace: Path) -> None:
    write_skill(workspace / ".brain/skills", "long", "x" * (2 * MAX_BODY))
    read = Skills(None, lambda _: True).body(str(workspace), "long")
    assert read is not None and len(read[1]) == MAX_BODY
