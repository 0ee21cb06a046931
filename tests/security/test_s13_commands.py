"""S13, S20 to S23, S26: what a command, a ref or an argument cannot do."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.workbench import workbench
from tools.executor.registry import default_registry
from tools.policy.policy import Policy


@pytest.mark.parametrize("cwd", ["/", "/tmp", "..", "/proc/self/cwd", "x/../.."])
async def test_s13_a_directory_outside_does_not_widen_anything(tmp_path: Path, cwd: str) -> None:
    async with workbench(tmp_path) as bench:
        outcome = await bench.call("run_command", command="pwd", cwd=cwd)
        assert outcome.error is not None and outcome.error.code in ("path_denied", "not_found")

        after = await bench.call("write_file", path=f"{cwd}/planted", content="x")
        assert after.error is not None and after.error.code in ("path_denied", "not_found")


async def test_s21_nothing_that_a_command_sets_is_there_for_the_next(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.write("d/x", "")
        first = await bench.call(
            "run_command", command="cd d; export PATH=/evil POISON=1; umask 000; alias ls=evil; pwd"
        )
        second = await bench.call("run_command", command="pwd; echo [$POISON]; command -v ls; umask")

        assert first.content.endswith("/d")
        lines = second.content.split("\n")
        assert lines[0] == str(bench.workspace)
        assert lines[1] == "[]"
        assert lines[2].endswith("/ls") and not lines[2].startswith("/evil")
        assert lines[3] == f"{_umask():04o}"


def _umask() -> int:
    return int(subprocess.run(["sh", "-c", "umask"], capture_output=True, text=True, check=True).stdout, 8)


@pytest.mark.parametrize("approvals", ["ask", "auto", "readonly"])
@pytest.mark.parametrize("separator", ["; ", " && ", "\n", " | ", " & "])
async def test_s22_a_denied_command_is_denied_behind_any_number_of_others(
    tmp_path: Path, approvals: str, separator: str
) -> None:
    async with workbench(tmp_path, approvals=approvals) as bench:
        bench.ledger.answer = "allow"
        outcome = await bench.call("run_command", command=separator.join(["true"] * 51 + ["sudo touch planted"]))

        assert outcome.error is not None and outcome.error.code == "denied"
        assert bench.ledger.questions == []


@pytest.mark.parametrize(
    "command",
    [
        "$(sudo id)",
        "`sudo id`",
        "FOO=1 sudo id",
        "env A=b sudo id",
        "sh -c 'sudo id'",
        "/usr/bin/sudo id",
        "nohup sudo id",
    ],
)
async def test_s22_it_is_found_where_it_hides(tmp_path: Path, command: str) -> None:
    async with workbench(tmp_path) as bench:
        outcome = await bench.call("run_command", command=command)
        assert outcome.error is not None and outcome.error.code == "denied"
        as_list = await bench.call("run_command", command=["sh", "-c", command])
        assert as_list.error is not None and as_list.error.code == "denied"


async def test_s22_a_word_is_not_a_command(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        assert (await bench.call("run_command", command="echo never use sudo; echo reboot")).status == "success"


@pytest.mark.parametrize(
    ("task", "command", "asked"),
    [
        ("run `touch a.txt` please", "touch a.txt", False),
        ("run `npm install` please", "npm install", True),
        ("please run npm install now", "npm install", True),
        ("touch a.txt", "touch a.txt", False),
        ("run make", "make", True),
        ("make the tests pass", "make", True),
        ("do not run npm install", "npm install", True),
        ("never run `npm install` here", "npm install", True),
        ("run npm install --force", "npm install", True),
        ("what does `rm -rf build` do?", "rm -rf build", True),
        ("run npm install, then npm test.", "npm test", True),
        ("run `touch a.txt`, then `touch b.txt`.", "touch b.txt", False),
        ("look at xnpm installer", "npm install", True),
        ("run npm install", "npm install && rm -rf /", True),
        ("", "ls", True),
    ],
)
async def test_s20_only_what_the_user_wrote_word_for_word_is_not_asked_about(
    tmp_path: Path, task: str, command: str, asked: bool
) -> None:
    async with workbench(tmp_path, approvals="ask", task_text=task) as bench:
        args = bench.registry.get("run_command").spec.arguments.model_validate({"command": command})
        decision = Policy().decide(bench.registry.get("run_command").spec, args, "/w", "ask", task)
        assert decision.verdict == ("ask" if asked else "allow")


@pytest.mark.parametrize("ref", ["--output=planted", "-o", "--no-index", "HEAD --output=x", "a\nb", "--upload-pack=x"])
async def test_s23_an_option_does_not_pass_as_a_ref(tmp_path: Path, ref: str) -> None:
    async with workbench(tmp_path) as bench:
        subprocess.run(["git", "init", "-q"], cwd=bench.workspace, check=True)
        for tool, args in (("git_show", {"ref": ref}), ("git_diff", {"ref": ref})):
            outcome = await bench.call(tool, **args)
            assert outcome.error is not None and outcome.error.code == "invalid_arguments"
        for tool, args in (
            ("git_diff", {"path": ref}),
            ("git_log", {"path": ref}),
            ("git_blame", {"path": ref}),
            ("git_add", {"paths": [ref]}),
        ):
            outcome = await bench.call(tool, **args)  # type: ignore[arg-type]
            if ref.startswith("-"):
                assert outcome.error is not None and outcome.error.code == "invalid_arguments"
        assert not (bench.workspace / "planted").exists()


async def test_s23_looking_at_a_repository_runs_nothing_of_it(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        root = bench.workspace
        for words in (["init", "-q"], ["config", "user.email", "a@b"], ["config", "user.name", "a"]):
            subprocess.run(["git", *words], cwd=root, check=True)
        bench.write("a.txt", "one\n")
        subprocess.run(["git", "add", "."], cwd=root, check=True)
        subprocess.run(["git", "commit", "-qm", "x"], cwd=root, check=True)
        bench.write("a.txt", "two\n")
        evil = bench.write("evil.sh", "#!/bin/sh\ntouch planted\n")
        evil.chmod(0o755)
        for key in ("core.fsmonitor", "diff.external", "core.pager", "pager.log"):
            subprocess.run(["git", "config", key, str(evil)], cwd=root, check=True)
        for tool, args in (("git_status", {}), ("git_diff", {}), ("git_log", {}), ("git_show", {"ref": "HEAD"})):
            assert (await bench.call(tool, **args)).status == "success"

        assert not (root / "planted").exists()


def test_s26_no_tool_takes_a_policy_as_an_argument() -> None:
    words = ("sandbox", "approv", "policy", "trust", "unsafe", "force", "escalat", "permission", "network", "env")
    for info in default_registry().infos():
        schema = json.dumps(info.parameters).lower()
        assert info.parameters["additionalProperties"] is False
        assert not [word for word in words if f'"{word}' in schema], info.name


@pytest.mark.parametrize("extra", ["sandbox", "approvals", "env", "shell", "dangerouslyDisableSandbox"])
async def test_s26_an_unknown_argument_is_rejected_and_nothing_runs(tmp_path: Path, extra: str) -> None:
    async with workbench(tmp_path) as bench:
        outcome = await bench.call("run_command", command="touch planted", **{extra: False})

        assert outcome.error is not None and outcome.error.code == "invalid_arguments"
        assert not (bench.workspace / "planted").exists()


async def test_s31_a_read_only_task_changes_nothing_whatever_the_model_calls(tmp_path: Path) -> None:
    async with workbench(tmp_path, approvals="readonly", task_text="run `touch planted`") as bench:
        bench.write("a.txt", "a")
        for tool, args in (
            ("run_command", {"command": "touch planted"}),
            ("run_tests", {}),
            ("write_file", {"path": "planted", "content": ""}),
            ("delete_file", {"path": "a.txt"}),
            ("git_add", {"paths": ["a.txt"]}),
            ("git_commit", {"message": "x"}),
        ):
            outcome = await bench.call(tool, **args)
            assert outcome.error is not None and outcome.error.code == "denied"
        assert [place.name for place in bench.workspace.iterdir()] == ["a.txt"]
        assert (await bench.call("read_file", path="a.txt")).status == "success"
