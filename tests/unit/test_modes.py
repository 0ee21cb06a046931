"""The README's table of what each mode asks is what policy decides."""

from pathlib import Path
from typing import NamedTuple

import pytest

from sidecar.config.grants import Permissions
from sidecar.config.trust import TrustChange
from tools.executor.registry import default_registry
from tools.policy.policy import Policy

REGISTRY = default_registry()
README = Path(__file__).parents[2] / "README.md"
MODES = ("ask", "edits", "auto", "readonly")


class Sample(NamedTuple):
    """`changed`: what its tests run changed since you trusted the workspace."""

    tool: str
    args: dict[str, object]
    trusted: bool = True
    changed: bool = False
    task: str = ""
    granted: tuple[str, ...] = ()
    contained: bool = True


def command(line: str, **more: object) -> Sample:
    return Sample("run_command", {"command": line}, **more)  # type: ignore[arg-type]


ROWS: dict[str, list[Sample]] = {
    "read, search": [
        Sample("read_file", {"path": "a.py"}, trusted=False),
        Sample("search_code", {"query": "x"}, trusted=False),
        Sample("git_log", {}, trusted=False),
        Sample("git_diff", {}, trusted=False),
    ],
    "read `.env`": [Sample("read_file", {"path": ".env"}), Sample("read_file", {"path": "id_rsa"})],
    "edit an ordinary": [
        Sample("write_file", {"path": "a.py", "content": ""}, trusted=False),
        Sample("edit_file", {"path": "a.py", "oldText": "a", "newText": "b"}),
    ],
    "change what runs later": [
        Sample("write_file", {"path": ".github/workflows/ci.yml", "content": ""}),
        Sample("write_file", {"path": ".env", "content": ""}),
        Sample("write_file", {"path": ".vscode/tasks.json", "content": ""}),
    ],
    "tests, builds": [Sample("run_tests", {}), command("pytest"), command("make test"), command("ls"), command("mypy")],
    "the same in other": [
        Sample("run_tests", {}, trusted=False),
        command("ls", trusted=False),
        command("pytest", changed=True),
        Sample("run_tests", {}, changed=True),
    ],
    "the command that your task is": [
        command("touch x", task="touch x"),
        command("sh x.sh", task="Run `sh x.sh`."),
        command("touch x", task="touch x", trusted=False),
    ],
    "the same, if it runs": [command("sh x.sh", task="sh x.sh", trusted=False)],
    "any other command": [command("touch x"), command("sh x.sh"), command("python3 x.py", trusted=False)],
    "a command that reaches": [
        command("npm install"),
        command("git push"),
        command("cat .env"),
        command("curl x", task="curl x"),
        command("tee .git/hooks/pre-commit"),
    ],
    "a command that you granted": [
        command("make release", granted=("make release",)),
        command("make release", granted=("make release",), trusted=False),
    ],
    "any command where": [command("ls", contained=False), command("touch x", contained=False)],
    "`sudo`": [command("sudo id"), command("sudo id", task="sudo id", granted=("sudo id",))],
}


def table() -> dict[str, dict[str, str]]:
    section = README.read_text(encoding="utf-8").partition("\n## What it asks\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return {row[0]: dict(zip(MODES, row[1:], strict=True)) for row in rows[2:]}


def decide(sample: Sample, mode: str) -> str:
    change = TrustChange(["conftest.py"], "", "x") if sample.changed else None
    policy = Policy(
        trusted=lambda workspace: sample.trusted,
        contained=lambda: sample.contained,
        permissions=lambda workspace: Permissions(commands=frozenset(sample.granted)),
        change=lambda workspace: change,
    )
    spec = REGISTRY.get(sample.tool).spec
    args = spec.arguments.model_validate(sample.args)
    verdict = policy.decide(spec, args, "/workspace", mode, sample.task).verdict  # type: ignore[arg-type]
    # Under `auto` the executor denies what would ask.
    return {"allow": "runs", "ask": "denied" if mode == "auto" else "asks", "deny": "denied"}[verdict]


def test_every_row_of_the_table_has_a_sample() -> None:
    assert len(table()) == len(ROWS)
    assert all(any(row.startswith(start) for row in table()) for start in ROWS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("start", ROWS)
def test_policy_decides_what_the_table_says(start: str, mode: str) -> None:
    (said,) = [modes[mode] for row, modes in table().items() if row.startswith(start)]
    assert [(sample, decide(sample, mode)) for sample in ROWS[start]] == [(sample, said) for sample in ROWS[start]]
