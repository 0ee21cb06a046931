"""S20 with the real programs: what the table allows is run, and nothing in the workspace has changed after it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.corpus import HARMLESS
from tests.security.corpus_harmless import MORE_HARMLESS
from tests.waiting import SECONDS
from tools.executor.registry import default_registry
from tools.policy import programs
from tools.policy.policy import Policy
from tools.policy.programs import Program

RUN = default_registry().get("run_command").spec
POLICY = Policy(trusted=lambda workspace: True)
TABLE = programs.load_table(None)
#: Words that write a file called `planted`, each for the programs that know it.
PLANTING = {
    "git": ("--output=planted", "--output planted", "-o planted", "--ext-diff", "-Oplanted"),
    "sort": ("-o planted", "--output=planted", "-oplanted"),
    "find": ("-fprint planted", "-fls planted", "-delete", "-exec touch planted ;"),
    "uniq": ("planted",),
    "sed": ("-i", "1wplanted", "-e 1wplanted"),
    "awk": ("-fevil.awk",),
    "xxd": ("planted", "-r planted"),
    "tree": ("-o planted",),
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("real") / "workspace"
    (place / "src").mkdir(parents=True)
    for name in ("README.md", "src/main.py", "a.txt", "b.txt", "words.txt", "data.csv", "app.log"):
        (place / name).write_text("def main(): pass\nTODO\n" * 30)
    (place / "evil.awk").write_text('BEGIN { print "x" > "planted" }')
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    (place / "a.txt").write_text("changed\n")
    return place


def test_s20_what_is_allowed_changes_nothing(workspace: Path) -> None:
    before = _tree(workspace)
    lines = [line for line in (*HARMLESS, *MORE_HARMLESS) if _looks_only(line) and _allowed(line, workspace)]
    assert len(lines) > 100
    for line in lines:
        _run(line, workspace)
        assert _tree(workspace) == before, line


@pytest.mark.parametrize("name", sorted(PLANTING))
def test_s20_no_option_lets_another_one_by(workspace: Path, name: str) -> None:
    """A table may think that an option takes the next word for its value; the program may think otherwise."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    before = _tree(workspace)
    for line in _lines(name):
        if _allowed(line, workspace):
            _run(line, workspace)
            assert _tree(workspace) == before, line


def _lines(name: str) -> Iterator[str]:
    known = [program for program in TABLE if program.name.split()[0] == name and program.verdict == "allow"]
    for program in known:
        for option in ("", *_options(program)):
            needed = program.requires[0] if program.requires and option not in program.requires else ""
            for word in PLANTING[name]:
                yield " ".join(filter(None, (program.name, needed, option, word)))
                yield " ".join(filter(None, (program.name, needed, option, word, "a.txt")))
                yield " ".join(filter(None, (program.name, needed, option, "a.txt", word)))


def _options(program: Program) -> list[str]:
    plain = [option.rstrip("=#") for option in program.options if option != "*"]
    return [*plain, *(["-r", "-n", "--color"] if "*" in program.options else [])]


def _looks_only(line: str) -> bool:
    found = TABLE.find(line.split())
    return found is not None and not found.program.project and shutil.which(line.split()[0]) is not None


def _allowed(line: str, workspace: Path) -> bool:
    args = RUN.arguments.model_validate({"command": line})
    return POLICY.decide(RUN, args, str(workspace), "ask").verdict == "allow"


def _run(line: str, workspace: Path) -> None:
    subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=workspace,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
        env={"PATH": os.environ["PATH"], "GIT_PAGER": "cat", "PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0"},
    )


def _tree(workspace: Path) -> dict[str, bytes]:
    """Without Git's own index, which a look may bring up to date."""
    files = (place for place in workspace.rglob("*") if place.is_file() and place.name != "index")
    return {str(place): place.read_bytes() for place in files}
