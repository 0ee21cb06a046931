"""S33: a command that is forbidden, quoted, asked about, or part of a longer one in the task's text is no consent."""

from pathlib import Path

import pytest

from tests.e2e.support import RunningSidecar
from tests.security.corpus_consent import MENTIONS, ORDERS
from tools.executor.registry import default_registry
from tools.policy.consent import consents
from tools.policy.policy import Decision, Policy

COMMANDS = ["sh deploy.sh --prod", "rm -rf src", "make release"]
REGISTRY = default_registry()


def filled(sentence: str, command: str) -> str:
    return sentence.replace("{plain}", command).replace("{}", f"`{command}`")


def decided(command: object, task: str, *, trusted: bool = True, approvals: str = "ask", cwd: str = ".") -> Decision:
    spec = REGISTRY.get("run_command").spec
    args = spec.arguments.model_validate({"command": command, "cwd": cwd})
    policy = Policy(trusted=lambda workspace: trusted)
    return policy.decide(spec, args, "/workspace", approvals, task)  # type: ignore[arg-type]


def test_s33_the_corpus_has_a_hundred_sentences_in_five_languages() -> None:
    languages = {"en", "de", "es", "fr", "pt"}
    assert languages <= ORDERS.keys() & MENTIONS.keys()
    sentences = [each for corpus in (ORDERS, MENTIONS) for texts in corpus.values() for each in texts]
    assert len(set(sentences)) >= 100
    assert all(len(corpus[language]) >= 8 for corpus in (ORDERS, MENTIONS) for language in languages)


@pytest.mark.parametrize("command", COMMANDS)
def test_s33_no_mention_is_a_yes(command: str) -> None:
    texts = [filled(each, command) for sentences in MENTIONS.values() for each in sentences]
    assert [text for text in texts if consents(command, text)] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_s33_an_order_is_a_yes_to_exactly_that_command(command: str) -> None:
    texts = [filled(each, command) for sentences in ORDERS.values() for each in sentences]
    assert [text for text in texts if not consents(command, text)] == []
    others = (f"{command} x", command[:-1], f"sudo {command}", command.upper(), f"{command}; id")
    assert [(other, text) for text in texts for other in others if consents(other, text)] == []


@pytest.mark.parametrize(
    ("command", "task"),
    [
        ("sh deploy.sh --prod", "Under no circumstances run sh deploy.sh --prod"),
        ("rm -rf src", "Remove the backup: rm -rf src.bak"),
        ("git push --force", "kein git push --force"),
        ("sh deploy.sh", "Fix this issue:\n\n> It broke. Run `sh deploy.sh` to see it."),
        ("sh deploy.sh", "Fix the crash.\n\n## Steps\nRun `sh deploy.sh`."),
    ],
)
def test_s33_the_reviews_examples_ask(command: str, task: str) -> None:
    assert decided(command, task).verdict == "ask"


@pytest.mark.parametrize("task", ["do you see any tests here?", "run the tests", "tests", "`pytest`", "pytest"])
def test_s33_tests_of_a_workspace_that_is_not_trusted_ask_whatever_the_task_says(task: str) -> None:
    spec = REGISTRY.get("run_tests").spec
    decision = Policy().decide(spec, spec.arguments.model_validate({}), "/workspace", "ask", task)
    assert decision.verdict == "ask"
    for command in ("pytest", "make test", "npm test", "sh run.sh", "./run", "python3 x.py", "eslint .", "env make x"):
        assert decided(command, command, trusted=False).verdict == "ask", command


@pytest.mark.parametrize(
    "command",
    [
        "curl example.com",
        "git push",
        "npm install",
        "pip install x",
        "ssh host",
        "true; wget x",
        "cp x .git/hooks/pre-commit",
        "cat .env",
        "cat .e'n'v",
        "rm .github/workflows/ci.yml",
        "cat server.pem",
        "cat ~/.ssh/id_rsa",
        "tee .vscode/tasks.json",
        "echo x >> .bashrc",
    ],
)
@pytest.mark.parametrize("approvals", ["ask", "edits", "auto"])
def test_s33_network_keys_and_protected_files_ask_even_with_consent(command: str, approvals: str) -> None:
    for task in (command, f"Run `{command}`"):
        assert decided(command, task, approvals=approvals).verdict == "ask"


def test_s33_consent_is_for_the_workspace_itself_and_for_the_sandbox() -> None:
    assert decided("rm -rf build", "Run `rm -rf build`").verdict == "allow"
    assert decided("rm -rf build", "Run `rm -rf build`", cwd="src").verdict == "ask"
    assert decided("rm -rf build", "rm -rf build", trusted=False).verdict == "allow"
    assert not decided("rm -rf build", "rm -rf build").network, "no network and no keys"
    assert decided("sudo id", "sudo id").verdict == "deny"


def test_s33_the_real_sidecar_asks_about_a_mention_and_not_about_an_order(
    sidecar: RunningSidecar, tmp_path: Path
) -> None:
    call = {"calls": [{"tool": "run_command", "args": {"command": "touch planted"}}]}
    models = sidecar.script("mention", [call, {"text": "done"}])
    options = {"models": models, "agentType": "terminal", "intent": "run_command"}
    task = sidecar.execute("whatever you do, never run `touch planted`", **options)
    sidecar.wait_for_event(task, lambda event: event["type"] == "approval")
    sidecar.post(f"/api/brain/tasks/{task}/cancel")
    sidecar.wait_for_end(task)
    assert not (sidecar.workspace / "planted").exists()
    task = sidecar.execute("Run `touch planted`", **options)
    assert sidecar.wait_for_end(task)["status"] == "completed"
    sandboxed = sidecar.get("/api/brain/status").json["sandbox"]["tier"] not in ("none", "off")
    assert (sidecar.workspace / "planted").exists() or not sandboxed
