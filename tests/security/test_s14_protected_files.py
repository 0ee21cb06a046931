"""S14: a command writes no protected file without being asked, whether it is there already or not, in every tier."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.security.sandboxed import SandboxedWorkbench
from tests.waiting import SECONDS, until_true

NEW = (
    ".env",
    ".env.production",
    ".envrc",
    ".github/workflows/x.yml",
    ".git/hooks/post-commit",
    ".vscode/settings.json",
    ".mcp.json",
    "deep/down/in/the/tree/.env",
    "deep/.idea/workspace.xml",
    ".ENV",
    "packages/app/.husky/pre-commit",
)
OLD = (".env", ".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", "sub/.env", "a/b/c/d/.envrc")


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SandboxedWorkbench]:
    bench = SandboxedWorkbench(tmp_path, request.param)
    yield bench
    await bench.executor.close()


async def test_s14_none_that_was_not_there_can_be_made(bench: SandboxedWorkbench) -> None:
    before = sorted(str(place) for place in bench.workspace.rglob("*"))
    outcome = await bench.plant(*NEW, "ordinary.txt")
    assert not [name for name in NEW if (bench.workspace / name).exists()]
    assert bench.read("ordinary.txt") == b"planted"
    assert "went on" in outcome.content

    left = {str(place) for place in bench.workspace.rglob("*")} - set(before)
    made = {"names.txt", "ordinary.txt", "deep", "deep/down", "deep/down/in", "deep/down/in/the"}
    made |= {"deep/down/in/the/tree", "packages", "packages/app", ".github"}
    assert left <= {str(bench.workspace / name) for name in made}


async def test_s14_what_was_reverted_is_said_plainly_and_kept(bench: SandboxedWorkbench) -> None:
    outcome = await bench.plant(".env")
    assert outcome.status == "error"
    assert outcome.error is not None and outcome.error.code == "protected_files"
    assert "- .env: moved to " in outcome.content
    (kept,) = [place for place in (bench.data_dir / "aside").rglob("*") if place.is_file()]
    assert kept.read_text() == "planted"


async def test_s14_what_was_there_stays_as_it_was(bench: SandboxedWorkbench) -> None:
    for name in OLD:
        bench.write(name, "before").chmod(0o640)
    await bench.plant(*OLD)
    for name in OLD:
        assert bench.read(name) == b"before", name
        assert (bench.workspace / name).stat().st_mode & 0o777 == 0o640

    script = "for f in .e?v .g*/hooks/pre* .g*/con??? .v*/tasks.json sub/.e?v; do rm -f $f; mkdir $f; done"
    await bench.call("run_command", command=script)
    for name in OLD:
        assert bench.read(name) == b"before", name


async def test_s14_a_directory_that_is_swapped_for_another_is_seen_through(bench: SandboxedWorkbench) -> None:
    bench.write("sub/.env", "before")
    bench.write(".git/hooks/pre-commit", "before")
    bench.write(
        "swap.sh", "mv .git g; cp -r g .git; mv sub s; mkdir sub; for f in sub/.e .git/hooks/pre-commi; do :; done"
    )
    script = (
        "mv .g?t g; cp -r g .gi't'; mv sub s; mkdir sub; "
        "e=nv; echo planted > sub/.e${e#n}; echo planted > sub/.$(printf env); "
        "h=.gi; echo planted > ${h}t/hooks/pre-commit"
    )
    await bench.call("run_command", command=script)
    assert bench.read("sub/.env") == b"before"
    assert bench.read(".git/hooks/pre-commit") == b"before"


async def test_s14_a_new_file_in_a_directory_that_was_swapped_is_seen_through(bench: SandboxedWorkbench) -> None:
    bench.write("sub/.vscode/tasks.json", "before")
    script = (
        "mv sub s; mkdir -p sub/.v$(printf scode); cd sub/.v*; echo planted > settings.json; echo planted > tasks.json"
    )
    await bench.call("run_command", command=script)
    assert not (bench.workspace / "sub/.vscode/settings.json").exists()
    assert bench.read("sub/.vscode/tasks.json") == b"before"


async def test_s14_a_link_in_its_place_is_none(bench: SandboxedWorkbench) -> None:
    bench.write("target", "planted")
    await bench.call("run_command", command="for f in .e_v .vsc_de; do ln -s target $(echo $f | tr _ ${X:-n}); done")
    assert not (bench.workspace / ".env").is_symlink()


async def test_s14_links_of_every_kind_hinder_no_command(bench: SandboxedWorkbench, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    bench.write("shared/env", "before")
    for name, target in (
        (".env", "shared/env"),
        (".envrc", "/nonexistent"),
        (".vscode", "../outside"),
        (".npmrc", ".npmrc"),
    ):
        (bench.workspace / name).symlink_to(target)
    outcome = await bench.call("run_command", command="echo it runs")
    assert outcome.content == "it runs"


@pytest.mark.parametrize("how", ["link", "file"])
async def test_s14_a_repository_that_is_kept_elsewhere_in_the_workspace_is_kept(
    bench: SandboxedWorkbench, how: str
) -> None:
    (bench.workspace / ".git").rename(bench.workspace / "repository")
    if how == "link":
        (bench.workspace / ".git").symlink_to("repository")
    else:
        bench.write(".git", "gitdir: repository\n")
    before = bench.read("repository/config")
    await bench.plant("repository/config", "repository/hooks/post-commit")
    assert bench.read("repository/config") == before
    assert not (bench.workspace / "repository/hooks/post-commit").exists()


async def test_s14_what_the_user_approved_may_write_it(bench: SandboxedWorkbench) -> None:
    bench.ledger.answer = "allow"
    outcome = await bench.call("run_command", command="echo A=1 > .env && git config core.pager cat")
    assert outcome.status == "success", outcome.content
    assert [question.why for question in bench.ledger.questions] != []
    assert bench.read(".env") == b"A=1\n"
    assert b"pager" in bench.read(".git/config")


async def test_s14_what_a_tool_wrote_with_the_users_word_beside_a_command_stays(bench: SandboxedWorkbench) -> None:
    bench.ledger.answer = "allow"
    bench.write("wait.sh", "while [ ! -e go ]; do sleep 0.02; done")
    await bench.call("run_command", call_id="waits", command="sh wait.sh", background=True)
    await bench.call("write_file", path=".env", content="A=1\n")
    bench.write("go", "")
    await _ended(bench, "waits")
    assert bench.read(".env") == b"A=1\n"


async def test_s14_a_command_in_the_background_is_looked_after_and_told_of_later(bench: SandboxedWorkbench) -> None:
    bench.write("names.txt", ".env")
    command = "xargs python3 make.py < names.txt; while [ ! -e go ]; do sleep 0.02; done"
    started = await bench.call("run_command", call_id="plants", command=command, background=True)
    await until_true(lambda: list(bench.data_dir.rglob("aside/*/*")))  # while it still runs
    assert not (bench.workspace / ".env").exists()
    bench.write("go", "")
    assert "- .env: moved to " in started.content + await _ended(bench, "plants")


async def _ended(bench: SandboxedWorkbench, command_id: str) -> str:
    """All that was told of it until it ended."""
    told = ""
    async with asyncio.timeout(SECONDS):
        while True:
            outcome = await bench.call("command_output", commandId=command_id)
            told += outcome.content
            if isinstance(outcome.details, dict) and not outcome.details["running"]:
                return told


async def test_s14_making_and_using_a_repository_is_possible(bench: SandboxedWorkbench) -> None:
    (bench.workspace / "inner").mkdir()
    who = "-c user.name=a -c user.email=a@b"
    script = (
        f"git init -q . && echo a > a.txt && git add . && git {who} commit -qm one && git {who} branch x && git status"
    )
    outcome = await bench.call("run_command", command=script, cwd="inner")
    assert outcome.status == "success", outcome.content
    assert (bench.workspace / "inner/.git/config").exists()


async def test_s14_a_repository_that_would_run_something_is_not_made(bench: SandboxedWorkbench) -> None:
    script = "git init -q inner && cd inner && git config core.fsmonitor ./evil"
    await bench.call("run_command", command=script)
    config = bench.workspace / "inner/.git/config"
    assert not config.exists() or b"fsmonitor" not in config.read_bytes()
