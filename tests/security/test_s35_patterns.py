"""S35: no pattern, rule file or text of a repository or a model keeps the processor busy for long."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.offline.parsed_request import strip_politeness
from tests.security.corpus_patterns import GLOBS, IGNORE_FILES, PATHS, TEXTS
from tests.support.workbench import workbench
from tools.builtin.fetch_url import render_page
from tools.code.graph import _SPECIFIER
from tools.code.manifest import first_paragraph
from tools.code.python_imports import _KEEP
from tools.executor.script_words import _IMPORTED
from tools.globs import Ignored, matcher
from tools.local.git import _CONVERTING
from tools.local.repository.configuration import parse_config
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


async def test_s35_a_search_for_files_answers_whatever_its_glob_is(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        for number, rules in enumerate(IGNORE_FILES[:4]):
            bench.write(f"d{number}/.gitignore", rules)
            bench.write(f"d{number}/{'a' * 200}", "x")
        for glob in GLOBS[::12]:
            assert (await bench.call("find_files", pattern=glob[:1_000])).status == "success"
        assert (await bench.call("read_directory_tree")).status == "success"
        assert (await bench.call("run_command", command="echo x > new.txt")).status == "success"
