"""A review by rules: what it finds, on which lines, and what it leaves alone."""

import subprocess
from typing import Any

import pytest

from tests.support.workbench import Workbench
from tests.waiting import SECONDS

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
GIT = ("git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main")


def git(bench: Workbench, *words: str) -> None:
    subprocess.run([*GIT, *words], cwd=bench.workspace, check=True, capture_output=True, timeout=SECONDS)


async def found(bench: Workbench, **args: Any) -> list[tuple[str, str, int, str]]:
    outcome = await bench.call("review_changes", **args)
    assert outcome.status == "success", outcome.content
    assert isinstance(outcome.details, dict)
    findings: Any = outcome.details["findings"]
    return [(each["severity"], each["path"], each["line"], each["message"]) for each in findings]


@pytest.mark.parametrize(
    ("path", "content", "severity", "line", "word"),
    [
        ("a.py", "x = 1\n<<<<<<< HEAD\nx = 2\n>>>>>>> other\n", "error", 2, "conflict marker"),
        ("a.py", "def f(:\n    pass\n", "error", 1, "syntax error"),
        ("a.ts", "const x = {;\n", "error", 1, "syntax error"),
        ("a.json", '{"a": 1,}\n', "error", 1, "JSON"),
        ("a.toml", "a = \n", "error", 1, "TOML"),
        ("a.py", f'key = "{KEY}"\n', "error", 1, "AWS"),
        ("a.py", "-----BEGIN RSA PRIVATE KEY-----\n", "error", 1, "private key"),
        ("a.ts", 'const password = "hunter2hunter2";\n', "warning", 1, "plain text"),
        ("a.py", "from .gone import x\n", "error", 1, "there is no file"),
        ("a.ts", "import { x } from './gone';\n", "error", 1, "there is no file"),
        ("a.py", "from there import missing\n", "error", 1, "does not define it"),
        ("a.py", "breakpoint()\n", "warning", 1, "breakpoint"),
        ("a.ts", "export function f() {\n  console.log(1);\n}\n", "warning", 2, "console.log"),
        ("a.js", "debugger;\n", "warning", 1, "debugger"),
        ("a.test.ts", "it.only('x', () => {});\n", "warning", 1, "other tests"),
        ("a.py", "try:\n    f()\nexcept:\n    pass\n", "warning", 3, "bare except"),
        ("a.py", "try:\n    f()\nexcept Exception:\n    pass\n", "warning", 3, "hides every error"),
        ("a.py", "def f(x=[]):\n    return x\n", "warning", 1, "All calls share"),
        ("a.py", "x = 1  # TODO: more\n", "hint", 1, "Open task"),
        ("a.py.orig", "x = 1\n", "warning", 0, "leftover"),
        ("deploy.pem", "x\n", "error", 0, "secrets"),
    ],
)
async def test_each_fault_is_found_with_its_line_and_severity(
    bench: Workbench, path: str, content: str, severity: str, line: int, word: str
) -> None:
    bench.write("there.py", "present = 1\n")
    bench.write(path, content)

    findings = await found(bench, paths=[path])

    assert [(each[0], each[1], each[2]) for each in findings if word in each[3]] == [(severity, path, line)], findings


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", "from there import __doc__\n"),
        ("a.py", '"""print(1), TODO and except: are words here."""\n'),
        ("cli.py", "print('hello')\n"),
        ("a.py", "import os\npassword = os.environ['PASSWORD']\napi_key = 'your-key-here'\n"),
        ("a.py", "from there import present\nfrom json import anything\nimport there\n"),
        ("a.py", "try:\n    from .gone import x\nexcept ImportError:\n    x = None\n"),
        ("a.ts", 'export type * from "./b";\nimport "./b.css";\n'),
        ("notes.md", "TODO: a list of things\n=======\n"),
    ],
)
async def test_what_is_as_it_should_be_is_not_named(bench: Workbench, path: str, content: str) -> None:
    bench.write("there.py", "present = 1\n")
    bench.write("b.ts", "export type T = 1;\n")
    bench.write(path, content)

    assert await found(bench, paths=[path]) == []


async def test_only_the_lines_that_are_named_count(bench: Workbench) -> None:
    bench.write("a.py", f'key = "{KEY}"\nbreakpoint()\nx = 1\nbreakpoint()\n')

    assert [each[2] for each in await found(bench, paths=["a.py:3-4"])] == [4]
    assert [each[2] for each in await found(bench, paths=["a.py:1,4"])] == [1, 4]


async def test_uncommitted_changes_are_reviewed_line_by_line_and_new_files_whole(bench: Workbench) -> None:
    bench.write("old.py", "breakpoint()\nx = 1\n")
    git(bench, "init", "-q")
    git(bench, "add", ".")
    git(bench, "commit", "-qm", "first")
    bench.write("old.py", "breakpoint()\nx = 1\ny = 2  # FIXME\n")
    bench.write("new.py", "breakpoint()\n")

    findings = await found(bench)

    assert [each[:3] for each in findings] == [("warning", "new.py", 1), ("hint", "old.py", 3)]
    git(bench, "add", ".")
    git(bench, "commit", "-qm", "second")
    assert await found(bench) == []
    assert len(await found(bench, ref="HEAD")) == 2
    assert len(await found(bench, ref="HEAD~1..HEAD", paths=["new.py"])) == 1


async def test_changed_code_that_no_test_imports_is_named(bench: Workbench) -> None:
    bench.write("a.py", "def f():\n    return 1\n")
    bench.write("b.py", "def g():\n    return 1\n")
    bench.write("tests/test_a.py", "from a import f\n\ndef test_f():\n    assert f()\n")

    findings = await found(bench, paths=["a.py", "b.py"])

    assert [(each[1], each[3]) for each in findings] == [("b.py", "No test imports this file, so `g` is untested.")]


async def test_a_secret_is_never_shown(bench: Workbench) -> None:
    bench.write("a.py", f'key = "{KEY}"\n')

    assert KEY not in (await bench.call("review_changes", paths=["a.py"])).content


async def test_nothing_to_review_and_no_repository_are_said_so(bench: Workbench) -> None:
    outcome = await bench.call("review_changes")
    assert outcome.error is not None and outcome.error.code == "no_git"
    git(bench, "init", "-q")
    assert "Nothing to review" in (await bench.call("review_changes")).content
    assert (await bench.call("review_changes", paths=["."])).content == "Nothing to review in the workspace."


async def test_the_log_begins_at_a_tag_a_commit_or_a_date(bench: Workbench) -> None:
    git(bench, "init", "-q")
    for name in ("one", "two", "three"):
        bench.write(f"{name}.txt", name)
        git(bench, "add", ".")
        git(bench, "commit", "-qm", name)
        if name == "one":
            assert "no tag" in (await bench.call("git_log", since="last tag")).content
            git(bench, "tag", "v1")

    for since, commits in (("v1", 2), ("HEAD~1", 1), ("last tag", 2), ("yesterday", 3)):
        assert len((await bench.call("git_log", since=since)).content.splitlines()) == commits, since
    assert "not a tag, commit or date" in (await bench.call("git_log", since="the big bang")).content
    assert (await bench.call("git_log", since="--output=x")).status == "error"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"Makefile": "lint:\n\ttrue\nrun: x\n"}, {"lint": "make lint", "start": "make run"}),
        (
            {
                "package.json": '{"scripts": {"build": "tsc", "dev": "vite"}, "devDependencies": {"a": "1"}}',
                "yarn.lock": "",
            },
            {"install": "yarn install", "build": "yarn run build", "start": "yarn run dev"},
        ),
        ({"requirements.txt": "", "app.py": ""}, {"install": "python3 -m pip install -r requirements.txt"}),
        ({"Cargo.toml": ""}, {"lint": "cargo clippy"}),
        ({"package.json": "{"}, {}),
        ({"Makefile": "test:\n\ttrue\n", "package.json": '{"scripts": {"build": "x"}}'}, {"build": "npm run build"}),
        ({"Makefile": "test:\n\ttrue\n", "Cargo.toml": ""}, {"build": "cargo build"}),
        ({"Makefile": "CC = cc\n\nall: $(OBJECTS)\n\tcc -o x\n\nclean:\n\trm x\n"}, {"build": "make"}),
        ({"makefile": ".PHONY: x\nbin/$(NAME): main.c\n\tcc -o x\n"}, {"build": "make"}),
        ({"Makefile": "help:\n\t@echo help\n"}, {}),
        ({"Makefile": "all: x\n", "CMakeLists.txt": ""}, {"build": "cmake -S . -B build && cmake --build build"}),
        ({"pom.xml": "", "mvnw": ""}, {"build": "./mvnw package"}),
    ],
)
async def test_the_commands_of_a_project_are_found(
    bench: Workbench, files: dict[str, str], expected: dict[str, str]
) -> None:
    for path, content in files.items():
        bench.write(path, content)

    outcome = await bench.call("find_commands")

    assert isinstance(outcome.details, dict)
    commands = outcome.details["commands"]
    assert isinstance(commands, dict) and commands.items() >= expected.items()
    assert bool(commands) == bool(expected)
