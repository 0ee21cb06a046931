"""S35: no pattern, rule file or text of a repository or a model keeps the processor busy for long."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.acp.rpc import Outgoing, RpcSession
from sidecar.memory.chunks import cut
from sidecar.models.encoding import decode_json
from sidecar.offline.parsed_request import strip_politeness
from sidecar.verify.change import FileVersions
from sidecar.verify.commands import load_commands
from sidecar.verify.syntax import check_syntax
from tests.security.corpus_patterns import GLOBS, IGNORE_FILES, PATHS, TEXTS
from tests.support.workbench import workbench
from tools.builtin.fetch_url import render_page
from tools.code.graph import _SPECIFIER
from tools.code.manifest import first_paragraph
from tools.code.python_imports import _KEEP
from tools.code.review import ReviewedFile
from tools.code.review_rules import check_tree
from tools.code.source import SourceText, text_of
from tools.errors import NoMatch
from tools.executor.script_words import _IMPORTED
from tools.globs import Ignored, matcher
from tools.local.git import _CONVERTING
from tools.local.repository.configuration import parse_config
from tools.patch import apply_hunks, parse_patch
from tools.policy.consent import consents
from tools.public_web import WebPage
from tools.test_report import _MOCHA

#: Of processor time, so that other processes don't count. Backtracking would take years.
_SECONDS = 5.0


def processor_seconds(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


def test_s35_the_corpus_is_large_enough() -> None:
    assert len(GLOBS) + len(IGNORE_FILES) + len(TEXTS) >= 80


def test_s35_no_glob_takes_long() -> None:
    for glob in GLOBS:

        def match(glob: str = glob) -> None:
            matches = matcher(glob)
            for path in PATHS * 20:
                matches(path)

        assert processor_seconds(match) < _SECONDS, glob[:80]


@pytest.mark.parametrize("text", IGNORE_FILES, ids=range(len(IGNORE_FILES)))
def test_s35_no_rule_file_takes_long(text: str) -> None:
    def match() -> None:
        ignored = Ignored()
        for directory in ("", "a", "a/a"):
            ignored = ignored.below(directory, text)
        for path in PATHS * 2:
            ignored(path, directory=False)
            ignored(path, directory=True)

    assert processor_seconds(match) < _SECONDS


@pytest.mark.parametrize("name", TEXTS)
def test_s35_no_text_takes_long(name: str) -> None:
    text = TEXTS[name]

    def read() -> None:
        for pattern in (_SPECIFIER, _IMPORTED, _MOCHA):
            pattern.findall(text)
        for bytes_pattern in (_KEEP, _CONVERTING):
            bytes_pattern.search(text.encode())
        list(parse_config(text))
        first_paragraph(text)
        strip_politeness(text)
        consents("make deploy", text)

    assert processor_seconds(read) < 2 * _SECONDS


_UNITS = (
    "<|<a |<a x=|<a x='|<a x='>|<a x=\">|<a/|<!|<!--|<!-->|<?|</|</a |<![CDATA[|<script>|<script></|<script></script |"
    "<svg>|<p>|<a>|&|&#|&#9|&amp|\n\r| \t"
)


@pytest.mark.parametrize("unit", _UNITS.split("|"))
def test_s35_no_page_takes_long(unit: str) -> None:
    body = unit.encode() * (1_000_000 // len(unit))
    assert processor_seconds(lambda: render_page(WebPage("u", 200, "text/html", body, cut=False))) < _SECONDS


@pytest.mark.parametrize("charset", ["punycode", "idna", "undefined", "unicode_escape", "zlib", "x" * 5_000, "\0"])
def test_s35_no_encoding_takes_long_or_fails(charset: str) -> None:
    page = WebPage("u", 200, f"text/plain; charset={charset}", b"a" * 500_000 + b"-" + b"b" * 500_000, cut=False)
    found: list[str] = []
    assert processor_seconds(lambda: found.append(render_page(page))) < _SECONDS
    assert len(found[0]) == 1_000_001


@pytest.mark.parametrize(
    ("path", "unit"),
    [("a.py", "from . import ("), ("a.py", "class A("), ("a.ts", "a=>"), ("a.ts", "`${"), ("a.ts", "/*")],
)
def test_s35_no_source_takes_long_or_keeps_other_threads_waiting(path: str, unit: str) -> None:
    source = SourceText(path, unit.encode() * (1_000_000 // len(unit)))
    done, turns = threading.Event(), 0

    def errors() -> None:
        assert source.errors
        done.set()

    thread = threading.Thread(target=errors)
    began = time.process_time()
    thread.start()
    while not done.wait(0.001):
        turns += 1
    thread.join()
    assert time.process_time() - began < 4 * _SECONDS
    assert turns > 10


@pytest.mark.parametrize(("path", "unit"), [("a.py", "("), ("a.py", "lambda:"), ("a.ts", "[")])
def test_s35_a_long_run_of_nonsense_takes_no_query_long(path: str, unit: str) -> None:
    reviewed = ReviewedFile(path, b"x = 1\n" + unit.encode() * 140_000)
    assert processor_seconds(lambda: (check_tree(reviewed), cut(reviewed.source))) < _SECONDS


def test_s35_a_large_source_has_the_same_tree_as_before() -> None:
    text = b"".join(b"def f%d(a, b):\n    return a + b\n" % number for number in range(20_000))
    source = SourceText("a.py", text)
    assert source.is_valid and source.root.text == text
    assert text_of(source.root.children[-1].child_by_field_name("name")) == "f19999"


_DEEP = "[" * 100_000
_TOO_DEEP = {
    "package.json": _DEEP,
    "a.json": _DEEP,
    "long.json": "9" * 10_000,
    "a.ipynb": _DEEP,
    "a.toml": f"a={_DEEP}",
    "pyproject.toml": f"a={_DEEP}",
    "Cargo.toml": f"a={_DEEP}",
    "a.py": "lambda:" * 100_000,
    "test_a.py": "(" * 100_000,
}


@pytest.mark.parametrize("name", _TOO_DEEP)
async def test_s35_a_file_that_is_nested_too_deeply_breaks_no_tool(tmp_path: Path, name: str) -> None:
    async with workbench(tmp_path) as bench:
        bench.write(name, _TOO_DEEP[name])
        bench.write("src/b.py", "def foo(): pass\n")
        calls: list[tuple[str, dict[str, Any]]] = [
            *((tool, {"path": name}) for tool in ("read_file", "describe_file")),
            *((tool, {"paths": [name]}) for tool in ("get_diagnostics", "review_changes")),
            *((tool, {}) for tool in ("describe_project", "find_commands", "get_workspace_info", "run_tests")),
            ("find_usages", {"symbol": "foo"}),
            ("multi_edit", {"path": "src/b.py", "edits": _DEEP}),
        ]
        began = time.process_time()
        for tool, args in calls:
            error = (await bench.call(tool, **args)).error
            assert error is None or error.code not in ("internal_error", "timed_out"), f"{tool}: {error.message}"
        assert time.process_time() - began < 4 * _SECONDS


@pytest.mark.parametrize(
    ("path", "content"), [("a.toml", f"a={_DEEP}"), ("a.json", _DEEP), ("a.py", "lambda:" * 100_000)]
)
def test_s35_a_check_says_that_a_file_is_nested_too_deeply(path: str, content: str) -> None:
    result = check_syntax([FileVersions(path, None, content.encode())])
    assert result is not None and "nested too deeply" in str(result)


def test_s35_deep_checks_of_a_workspace_count_as_none(tmp_path: Path) -> None:
    (tmp_path / ".brain").mkdir()
    (tmp_path / ".brain/verify.toml").write_text(f"commands={_DEEP}")
    assert load_commands(str(tmp_path)) is None


@pytest.mark.parametrize("line", ["1", "99999999999999", "100000"])
def test_s35_no_hunk_takes_long_to_place(line: str) -> None:
    text = "a\n" * 100_000
    body = "".join(f"-{each}\n" for each in ["a"] * 5_000 + ["z"])
    (patch,) = parse_patch(f"--- a/x\n+++ b/x\n@@ -{line},5001 +1,0 @@\n{body}")

    def place() -> None:
        with pytest.raises(NoMatch):
            apply_hunks(text, patch)

    assert processor_seconds(place) < _SECONDS


@pytest.mark.parametrize("body", [_DEEP.encode(), b"\xff" + _DEEP.encode(), b'{"a":' * 100_000, b'"\\ud800' + b"[" * 9])
def test_s35_a_reply_that_is_nested_too_deeply_is_only_invalid(body: bytes) -> None:
    with pytest.raises(ValueError):
        decode_json(body)


def test_s35_an_agent_that_nests_too_deeply_gets_an_answer() -> None:
    answer = RpcSession().receive(_DEEP)
    assert isinstance(answer, Outgoing) and "not JSON" in answer.line


async def test_s35_a_search_for_files_answers_whatever_its_glob_is(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        for number, rules in enumerate(IGNORE_FILES[:4]):
            bench.write(f"d{number}/.gitignore", rules)
            bench.write(f"d{number}/{'a' * 200}", "x")
        for glob in GLOBS[::12]:
            assert (await bench.call("find_files", pattern=glob[:1_000])).status == "success"
        assert (await bench.call("read_directory_tree")).status == "success"
        assert (await bench.call("run_command", command="echo x > new.txt")).status == "success"
