"""S20, S22, S24: what may run without a question is decided on the parsed command, and only in a trusted workspace."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.security.corpus import BYPASSES as FIRST_BYPASSES
from tests.security.corpus import HARMLESS as FIRST_HARMLESS
from tests.security.corpus_bypasses import MORE_BYPASSES
from tests.security.corpus_harmless import EVERYDAY, MORE_HARMLESS
from tools.executor.registry import default_registry
from tools.policy.policy import Decision, Policy

BYPASSES = [*FIRST_BYPASSES, *MORE_BYPASSES]
HARMLESS = [*FIRST_HARMLESS, *MORE_HARMLESS, *EVERYDAY]
RUN = default_registry().get("run_command").spec


def decided(command: object, workspace: Path, approvals: str = "ask", policy: Policy | None = None) -> Decision:
    args = RUN.arguments.model_validate({"command": command})
    chosen = policy or Policy(trusted=lambda workspace: True)
    return chosen.decide(RUN, args, str(workspace), approvals)  # type: ignore[arg-type]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "out").symlink_to("/etc/passwd")
    (place / ".env").write_text("KEY=1")
    return place


def test_s20_the_corpus_is_large_enough() -> None:
    assert len(set(BYPASSES)) + len(set(HARMLESS)) >= 200


def test_s20_no_bypass_is_allowed_unasked(workspace: Path) -> None:
    allowed = [command for command in BYPASSES if decided(command, workspace).verdict == "allow"]
    assert allowed == []


def test_s20_nearly_all_everyday_commands_are_not_asked_about(
    workspace: Path, record_property: Callable[[str, object], None]
) -> None:
    asked = {command: why for command in HARMLESS if (why := _asked(command, workspace))}
    share = 1 - len(asked) / len(HARMLESS)
    print(f"{share:.1%} of {len(HARMLESS)} everyday commands run unasked in a trusted workspace")
    record_property("share of everyday commands that run unasked", share)
    assert share >= 0.95, asked


def _asked(command: str, workspace: Path) -> str | None:
    verdict, why, *_ = decided(command, workspace)
    return None if verdict == "allow" else why


def test_s20_in_a_workspace_that_is_not_trusted_every_one_asks(workspace: Path) -> None:
    assert [command for command in HARMLESS if decided(command, workspace, policy=Policy()).verdict != "ask"] == []


@pytest.mark.parametrize("approvals", ["ask", "auto"])
def test_without_a_sandbox_every_command_asks(workspace: Path, approvals: str) -> None:
    policy = Policy(trusted=lambda workspace: True, contained=lambda: False)
    assert {decided(command, workspace, approvals, policy).verdict for command in HARMLESS} == {"ask"}
    for name in ("run_tests", "get_diagnostics"):
        spec = default_registry().get(name).spec
        decision = policy.decide(spec, spec.arguments.model_validate({}), str(workspace), approvals)  # type: ignore[arg-type]
        assert decision.verdict == "ask", name


@pytest.mark.parametrize(
    "command", ["curl example.com", "true; curl -d @x host", "git push", "npm install", "sh -c 'wget x'"]
)
def test_s24_no_network_command_is_allowed_unasked_not_even_with_auto(workspace: Path, command: str) -> None:
    decision = decided(command, workspace, "auto")
    assert decision.verdict == "ask"
    assert decision.network


@pytest.mark.parametrize(
    "command",
    [
        "cp x .git/hooks/pre-commit",
        "echo x > .env",
        "printf x >> sub/.vscode/tasks.json",
        "tee .github/workflows/ci.yml",
    ],
)
def test_s15_auto_does_not_cover_protected_paths_in_commands(workspace: Path, command: str) -> None:
    assert decided(command, workspace, "auto").verdict == "ask"


@pytest.mark.parametrize(
    "command", ["su''do id", "s\\udo id", '"sudo" id', "timeout 5 sudo id", "time nice -n 5 sudo id"]
)
@pytest.mark.parametrize("approvals", ["ask", "auto"])
def test_s22_deny_wins_however_it_is_written(workspace: Path, command: str, approvals: str) -> None:
    assert decided(command, workspace, approvals).verdict == "deny"


def test_the_users_own_table_comes_first_and_may_deny(workspace: Path, tmp_path: Path) -> None:
    own = tmp_path / "policy.toml"
    own.write_text('[just]\noperands = ["check"]\n[ls]\nverdict = "deny"\nwhy = "not here"\n')
    policy = Policy(trusted=lambda workspace: True, own_table=own)
    assert decided("just check", workspace, policy=policy).verdict == "allow"
    assert decided("just deploy", workspace, policy=policy).verdict == "ask"
    assert decided("ls", workspace, "auto", policy=policy) == Decision("deny", "not here")
    assert decided("; ".join(["true"] * 51 + ["ls"]), workspace, "auto", policy=policy).verdict == "deny"


def test_a_table_that_cannot_be_read_allows_nothing(workspace: Path, tmp_path: Path) -> None:
    own = tmp_path / "policy.toml"
    own.write_text("[ls]\nharmless = true\n")
    policy = Policy(trusted=lambda workspace: True, own_table=own)
    decision = decided("ls", workspace, policy=policy)
    assert decision.verdict == "ask"
    assert "policy.toml" in decision.why


def test_a_program_that_the_workspace_brings_is_not_the_one_of_the_table(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = workspace / "bin" / "ls"
    planted.parent.mkdir()
    planted.write_text("#!/bin/sh\n")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", f"{planted.parent}:/usr/bin:/bin")
    assert decided("ls", workspace).verdict == "ask"


def test_a_list_of_words_is_judged_like_a_line(workspace: Path) -> None:
    assert decided(["git", "log", "-5"], workspace).verdict == "allow"
    assert decided(["git", "log", "--output=x"], workspace).verdict == "ask"
    assert decided(["echo", "$(id); rm -rf *"], workspace).verdict == "allow"
    assert decided(["sh", "-c", "sudo id"], workspace).verdict == "deny"
