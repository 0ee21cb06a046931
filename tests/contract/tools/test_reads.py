"""Tools that look: what they show, what they leave out, and what they say when there is nothing to show."""

import asyncio
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.workbench import Workbench
from tests.waiting import SECONDS
from tools.errors import NotADirectory


async def test_a_range_of_lines_is_numbered_and_both_ends_are_included(bench: Workbench) -> None:
    bench.write("a.txt", "".join(f"line {n}\n" for n in range(1, 21)))

    outcome = await bench.call("read_file", path="a.txt", startLine=9, endLine=11)

    assert outcome.content == " 9 line 9\n10 line 10\n11 line 11"


async def test_a_long_file_says_how_to_go_on(bench: Workbench) -> None:
    bench.write("a.txt", "x\n" * 5_000)

    assert "startLine 2001" in (await bench.call("read_file", path="a.txt")).content


@pytest.mark.parametrize("tool", ["read_file", "edit_file"])
async def test_a_pipe_is_refused_without_disturbing_who_writes_to_it(bench: Workbench, tool: str) -> None:
    pipe = bench.workspace / "pipe"
    os.mkfifo(pipe)
    writer = asyncio.create_task(asyncio.to_thread(pipe.write_text, "for somebody else"))

    edit = {"oldText": "a", "newText": "b"} if tool == "edit_file" else {}
    outcome = await bench.call(tool, path="pipe", **edit)

    assert outcome.error is not None and outcome.error.code == "not_a_file"
    assert await asyncio.wait_for(asyncio.to_thread(pipe.read_text), SECONDS) == "for somebody else"
    await asyncio.wait_for(writer, SECONDS)


async def test_names_are_listed_in_order_and_anew_when_the_directory_has_changed(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.cache.verified._STEP_NS", -1)
    bench.write("src/b.txt", "")
    bench.write("src/a/c.txt", "")
    host, source = bench.backend.host(str(bench.workspace)), bench.workspace / "src"
    first = await host.names("src")
    assert first == ["a/", "b.txt"]
    assert await host.names("src") is first
    (source / "b.txt").rename(source / "z.txt")
    os.utime(source, (time.time() + 1, time.time() + 1))
    assert await host.names("src") == ["a/", "z.txt"]
    with pytest.raises(NotADirectory):
        await host.names("src/z.txt")


async def test_a_file_is_read_as_a_whole_up_to_the_limit(bench: Workbench) -> None:
    bench.write("a.txt", "12345")
    host = bench.backend.host(str(bench.workspace))

    info, content = await host.whole("a.txt", 5)
    assert (info.size, content) == (5, b"12345")
    assert (await host.whole("a.txt", 4))[1] is None
    assert (await host.whole(".", 5))[1] is None
    bench.write("large.txt", "x" * 3_000_000)
    assert (await host.whole("large.txt", 3_000_000))[1] == b"x" * 3_000_000


async def test_an_absolute_path_inside_the_workspace_is_taken(bench: Workbench) -> None:
    bench.write("a.txt", "A\n")

    assert (await bench.call("read_file", path=f"{bench.workspace}/a.txt")).content == "1 A"


async def test_an_image_is_attached_and_kept_out_of_the_events(bench: Workbench) -> None:
    bench.write("a.png", b"\x89PNG....")
    outcome = await bench.call("read_file", path="a.png")

    assert isinstance(outcome.details, dict)
    (attachment,) = outcome.details["attachments"]  # type: ignore[misc]
    assert attachment["mediaType"] == "image/png"  # type: ignore[index, call-overload]
    assert all("attachments" not in event.to_json() for event in bench.ledger.events)


async def test_a_notebook_is_shown_cell_by_cell(bench: Workbench) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n"]},
        {"cell_type": "code", "source": ["1 + 1"], "outputs": [{"data": {"text/plain": ["2"]}}]},
    ]
    bench.write("n.ipynb", json.dumps({"cells": cells}))

    content = (await bench.call("read_file", path="n.ipynb")).content

    assert "cell 2 (code)\n1 + 1\n→ 2" in content


async def test_one_missing_file_does_not_stop_the_others(bench: Workbench) -> None:
    for number in range(45):
        bench.write(f"{number}.txt", f"text {number}\n")
    paths = [f"{number}.txt" for number in range(45)]

    outcome = await bench.call("read_files", paths=[*paths, "missing.txt"])

    assert outcome.summary == "45 of 46 files"
    assert "text 44" in outcome.content and "missing.txt does not exist" in outcome.content


async def test_a_tree_honours_gitignore_and_its_depth(bench: Workbench) -> None:
    bench.write(".gitignore", "build/\n*.log\n!keep.log\n/only_here\n")
    for path in (
        "build/x",
        "src/a.log",
        "src/keep.log",
        "src/deep/er/b.py",
        "only_here",
        "src/only_here",
        ".git/config",
    ):
        bench.write(path, "")
    bench.write("src/.gitignore", "deep/er/\n")

    content = (await bench.call("read_directory_tree", depth=3)).content

    assert content.split("\n") == ["src/", "  deep/", "  .gitignore", "  keep.log", "  only_here", ".gitignore"]


async def test_a_large_tree_is_cut_at_its_upper_levels_first(bench: Workbench) -> None:
    for folder in range(30):
        for number in range(60):
            bench.write(f"d{folder:02}/f{number}", "")

    outcome = await bench.call("read_directory_tree")

    assert "d29/" in outcome.content
    assert "cut at 1000 entries" in outcome.content


async def test_files_are_found_by_glob_without_what_is_ignored(bench: Workbench) -> None:
    bench.write(".ignore", "out/\n")
    for path in ("a.py", "src/b.py", "out/c.py", "src/d.ts"):
        bench.write(path, "")

    assert (await bench.call("find_files", pattern="*.py")).content == "a.py\nsrc/b.py"
    assert (await bench.call("find_files", pattern="*.py", path="src")).content == "src/b.py"
    assert "No file" in (await bench.call("find_files", pattern="*.rs")).content


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*", "a.py src/b.py src/deep/e.py .gitignore"),
        ("**", "a.py src/b.py src/deep/e.py .gitignore"),
        ("**/*", "a.py src/b.py src/deep/e.py .gitignore"),
        ("src/**", "src/b.py src/deep/e.py"),
        ("./src/*", "src/b.py"),
        ("/a.py", "a.py"),
        ("src/**/*.py", "src/b.py src/deep/e.py"),
        ("**/deep/?.{py,ts}", "src/deep/e.py"),
        ("[!a-d].py", "src/deep/e.py"),
        ("!*.py", ".gitignore"),
        ("SRC/**", ""),
    ],
)
async def test_whatever_files_are_asked_for_those_of_git_and_those_it_ignores_are_left_out(
    bench: Workbench, pattern: str, found: str
) -> None:
    (bench.workspace / ".git").mkdir()
    bench.write(".git/config", "needle")
    bench.write(".gitignore", "out/\nmade.py\n")
    for path in ("a.py", "src/b.py", "src/deep/e.py", "src/out/c.py", "src/made.py", "out/d.py"):
        bench.write(path, "needle")

    outcome = await bench.call("find_files", pattern=pattern)
    assert isinstance(outcome.details, dict)
    assert outcome.details["paths"] == sorted(found.split())


@pytest.mark.parametrize("glob", ["*", "**/*", "*.py", "**/*.py"])
async def test_whatever_files_are_searched_those_of_git_and_those_it_ignores_are_left_out(
    bench: Workbench, glob: str
) -> None:
    (bench.workspace / ".git").mkdir()
    bench.write(".gitignore", "out/\nmade.py\n")
    for path in (".git/config.py", "a.py", "src/made.py", "out/d.py"):
        bench.write(path, "needle")

    assert (await bench.call("search_code", query="needle", glob=glob)).content == "a.py\n1:needle"


async def test_a_search_gives_places_with_their_context(bench: Workbench) -> None:
    bench.write("src/a.py", "one\ntwo\nthree\n")
    bench.write("b.md", "Two\n")

    assert (await bench.call("search_code", query="two")).content == "src/a.py\n2:two"
    assert (await bench.call("search_code", query="two", path="src/a.py")).content == "src/a.py\n2:two"
    insensitive = await bench.call("search_code", query="two", caseSensitive=False)
    assert insensitive.content == "b.md\n1:Two\n\nsrc/a.py\n2:two"
    context = await bench.call("search_code", query="t[wx]o", regex=True, context=1, glob="*.py")
    assert context.content == "src/a.py\n1-one\n2:two\n3-three"
    most = await bench.call("search_code", query="t[wx]o", regex=True, context=50, glob="*.py")
    assert most.content == context.content


async def test_a_search_keeps_the_indentation_and_separates_what_lies_apart(bench: Workbench) -> None:
    bench.write("a.py", "def f():\n    x = 1\n\n\n\n    \tx = 2\n")

    outcome = await bench.call("search_code", query="x =", context=1)

    assert outcome.content == "a.py\n1-def f():\n2:    x = 1\n3-\n--\n5-\n6:    \tx = 2"
    edited = await bench.call("edit_file", path="a.py", oldText="2:    x = 1\n3-", newText="2:    x = 3\n3-")
    assert edited.status == "success", "an edit that was copied with its numbers matches"
    assert bench.read("a.py").startswith(b"def f():\n    x = 3\n\n")


async def test_many_files_come_in_chunks_and_what_was_cut_is_said_exactly(bench: Workbench) -> None:
    bench.write("long.txt", "\n".join(f"line {number}" for number in range(1, 20_001)))
    for number in range(100):
        bench.write(f"{number}.txt", "short\n")
    paths = ["long.txt", *(f"{number}.txt" for number in range(100))]

    outcome = await bench.call("read_files", paths=paths, chunkSize=50)

    assert "── 48.txt\n1 short" in outcome.content, "short ones are whole"
    assert "ask for them next: 49.txt, 50.txt" in outcome.content
    cut = re.search(r"(\d+) line (\d+)\n… cut after line (\d+) of 2000|… 18,000 more lines", outcome.content)
    assert cut is not None
    assert len(outcome.content) <= 60_000


async def test_a_search_stops_at_its_limit_and_says_so(bench: Workbench) -> None:
    bench.write("a.txt", "x\n" * 500)

    outcome = await bench.call("search_code", query="x", maxResults=3)

    assert outcome.content.count(":x") == 3
    for number in range(30):
        bench.write(f"b/{number:02}.txt", "y\n")
    bench.write("a.txt", "y\ny\ny\n")
    left = (await bench.call("search_code", query="y", maxResults=2)).content.split("\n")[-1]
    assert left.startswith("… more matches in a.txt, b/00.txt, b/01.txt, ")
    assert left.endswith("b/18.txt, 11 more files; narrow the search, or raise maxResults")
    bench.write("a.txt", "x\n" * 500)
    many = await bench.call("search_code", query="x")
    assert many.summary.startswith("200 matches")


async def test_a_query_that_looks_like_an_option_is_a_query(bench: Workbench) -> None:
    bench.write("a.txt", "--pre=evil\n")

    assert (await bench.call("search_code", query="--pre=evil")).content == "a.txt\n1:--pre=evil"


@pytest.mark.parametrize(
    ("tool", "args", "code"),
    [
        ("read_file", {"path": "missing"}, "not_found"),
        ("read_file", {"path": "d"}, "not_a_file"),
        ("read_file", {"path": "binary"}, "binary_file"),
        ("read_file", {"path": "a.txt", "startLine": 9}, "invalid_arguments"),
        ("read_file", {"path": "a.txt", "startLine": 2, "endLine": 1}, "invalid_arguments"),
        ("read_file", {"path": "a.txt", "startLine": 0}, "invalid_arguments"),
        ("list_dir", {"path": "a.txt"}, "not_a_directory"),
        ("list_dir", {"path": "missing"}, "not_found"),
        ("search_code", {"query": "(", "regex": True}, "invalid_arguments"),
        ("find_files", {"pattern": "[", "path": "."}, "invalid_arguments"),
        ("analyze_code", {"path": "a.txt"}, "unknown_language"),
        ("command_output", {"commandId": "none"}, "unknown_command"),
        ("git_status", {}, "no_git"),
        ("run_tests", {}, "no_tests"),
        ("run_tests", {"target": "--help"}, "invalid_arguments"),
        ("run_command", {"command": ["no-such-program"]}, "command_not_found"),
        ("run_command", {"command": ["a\0b"]}, "invalid_command"),
        ("run_command", {"command": "true", "cwd": "missing"}, "not_found"),
        ("run_command", {"command": "true", "cwd": "a.txt"}, "not_a_directory"),
        ("run_command", {"command": "sleep 9", "timeoutMs": 50}, "timed_out"),
    ],
)
async def test_bad_input_is_answered_with_what_to_do(
    bench: Workbench, tool: str, args: dict[str, Any], code: str
) -> None:
    bench.write("a.txt", "a\n")
    bench.write("d/x", "")
    bench.write("binary", b"\0\1\2")

    outcome = await bench.call(tool, **args)

    assert outcome.status == "error"
    assert outcome.error is not None and outcome.error.code == code, outcome.content
    assert len(outcome.content) > 20


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every directory")
async def test_a_path_with_an_unreadable_directory_hides_no_missing_program(
    bench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    monkeypatch.setenv("PATH", f"{closed}:{os.environ['PATH']}")
    outcome = await bench.call("run_command", command=["no-such-program"])
    assert outcome.error is not None and outcome.error.code == "command_not_found", outcome.content


async def test_every_tool_has_a_schema_that_says_what_it_takes(bench: Workbench) -> None:
    for info in bench.registry.infos():
        assert info.description.endswith((".", "TSX, Go, Rust, Java, C, C++."))
        assert info.parameters["additionalProperties"] is False
        assert info.timeout > 0


async def test_a_missing_file_is_answered_with_the_one_that_was_probably_meant(bench: Workbench) -> None:
    bench.write("src/pkg/signer.py", "x\n")
    for wrong in ("src/pkg/sgner.py", "pkg/signer.py"):
        outcome = await bench.call("read_file", path=wrong)
        assert outcome.content == f"{wrong} does not exist. Did you mean src/pkg/signer.py?"
        assert (await bench.call("search_code", query="x", path=wrong)).content == outcome.content
    bench.write("tests/test_utils/test_echo.py", "x\n")
    outcome = await bench.call("search_code", query="x", path="tests/test_utils.py")
    assert outcome.content == "tests/test_utils.py does not exist. Did you mean tests/test_utils/?"
    outcome = await bench.call("read_file", path="nowhere.md")
    assert outcome.content == "nowhere.md does not exist. Look with list_dir or find_files."
