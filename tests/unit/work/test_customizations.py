"""Own agents and slash commands."""

from pathlib import Path

import pytest

from sidecar.work.customizations import Customizations, parse_agent, parse_command
from sidecar.work.roster import ROSTER

AGENT = (
    "---\ndescription: Writes SQL\nrole: fast\ntools: read_file, write_file\nmaxIterations: 4\n---\nYou write SQL.\n"
)
COMMAND = "---\nintent: review_code\nagent: sql\n---\nLook at $ARGUMENTS closely.\n"


def put(place: Path, name: str = "sql") -> None:
    for kind, text in (("agents", AGENT), ("commands", COMMAND)):
        (place / kind).mkdir(parents=True, exist_ok=True)
        (place / kind / f"{name}.md").write_text(text)


def test_an_agent_is_its_front_matter_and_its_prompt(tmp_path: Path) -> None:
    put(tmp_path)
    agent = Customizations(tmp_path).load("/w").agents["sql"]
    assert (agent.role, agent.tools, agent.max_iterations) == ("fast", ("read_file", "write_file"), 4)
    assert (agent.prompt, agent.description) == ("You write SQL.", "Writes SQL")
    assert agent.read_only().prompt == "You write SQL."


def test_a_command_stands_for_its_text(tmp_path: Path) -> None:
    put(tmp_path)
    command = Customizations(tmp_path).load("/w").commands["sql"]
    assert (command.intent, command.agent) == ("review_code", "sql")
    assert command.expand("a.sql") == "Look at a.sql closely."
    assert parse_command("x", "Do it.").expand("now") == "Do it.\n\nnow"


def test_those_of_a_workspace_count_only_if_it_is_trusted(tmp_path: Path) -> None:
    put(tmp_path / ".brain")
    assert "sql" not in Customizations().load(str(tmp_path)).agents
    assert "sql" not in Customizations().load(str(tmp_path)).commands
    assert "sql" in Customizations(None, lambda workspace: workspace == str(tmp_path)).load(str(tmp_path)).agents


def test_no_one_takes_the_name_of_one_of_ours(tmp_path: Path) -> None:
    put(tmp_path, "coder")
    custom = Customizations(tmp_path).load("/w")
    assert custom.agents["coder"] is ROSTER["coder"]
    assert "coder is a built-in agent" in custom.problems["agents/coder"]


def test_which_model_is_asked_is_for_the_user_to_say_and_not_for_a_workspace(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / ".brain"):
        put(place)
        (place / "agents" / f"of{place.name.strip('.')[:5]}.md").write_text("---\nmodel: openai/tiny\n---\nBe brief.")
    assert parse_agent("x", "---\nname: x\nmodel: openai/tiny\n---\nBe brief.").model == "openai/tiny"
    custom = Customizations(None, lambda workspace: True).load(str(tmp_path))
    assert "ofbrain" not in custom.agents
    assert "may not choose the model" in custom.problems["agents/ofbrain"]


def test_lists_and_long_texts_may_be_written_over_several_lines() -> None:
    agent = parse_agent(
        "x",
        "---\ndescription: >\n  Writes SQL,\n  and reads it.\n# by hand\n"
        'tools:\n  - read_file\n  - "write_file"\n---\nBe brief.',
    )
    assert (agent.description, agent.tools) == ("Writes SQL, and reads it.", ("read_file", "write_file"))
    assert parse_agent("x", "---\ntools: [read_file, list_dir]\n---\nx").tools == ("read_file", "list_dir")
    assert parse_agent("x", "---\ndescription: 'Say: \"hi\"'\n---\nx").description == 'Say: "hi"'


def test_a_change_is_seen_and_a_file_that_cannot_be_used_harms_no_other(tmp_path: Path) -> None:
    put(tmp_path)
    customizations = Customizations(tmp_path)
    assert "more" not in customizations.load("/w").agents
    (tmp_path / "agents" / "more.md").write_text("Be brief.")
    (tmp_path / "agents" / "bad.md").write_text("---\nrole: chief\n---\nx")
    (tmp_path / "agents" / "link.md").symlink_to("/etc/passwd")
    (tmp_path / "agents" / "huge.md").write_text("x" * 100_000)
    (tmp_path / "agents" / "latin.md").write_bytes(b"\xe4")
    assert {name: "not used" in why for name, why in customizations.load("/w").problems.items()} == dict.fromkeys(
        ("agents/bad", "agents/huge", "agents/latin"), True
    )
    found = customizations.load("/w").agents
    assert "more" in found
    assert "bad" not in found
    assert "link" not in found


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\ntools: rm_rf\n---\nx", "no tool rm_rf"),
        ("---\nrole: chief\n---\nx", "role"),
        ("---\nmaxIterations: 0\n---\nx", "between"),
        ("---\nmaxIterations: many\n---\nx", "a number between"),
        ("---\nname: y\n---\nx", "that of its file"),
        ("---\nmodel: gpt\n---\nx", "provider/name"),
        ("---\napprovals: auto\n---\nx", "unknown key"),
        ("---\nrole fast\n---\nx", "line 2"),
        ("---\nrole: fast\n", "has no end"),
        ("---\nrole: fast\n---\n", "it is empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_agent("x", text)
