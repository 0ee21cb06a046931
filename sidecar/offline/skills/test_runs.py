"""Runs the project's tests, reports which failed, where and why, and answers which tests reach a file."""

import re

from sidecar.models.port import ToolReturn
from sidecar.offline.parsed_request import ParsedRequest
from sidecar.offline.phrases import group, phrases
from sidecar.offline.results import (
    failure,
    format_place,
    is_declined,
    output_of,
    quote_names,
    records,
    shorten_output,
)
from sidecar.offline.skill import Act, Decline, Move, OneCall, Say
from sidecar.offline.skills.usages import CHANGE, FILE
from sidecar.wire.base import JsonObject
from sidecar.wire.text import bulleted
from tools.test_files import is_test

_ASKED = phrases(
    """
    {run} (all )?(of )?{the}({which} )?{tests}( again)?( (in|of|for|at|under|from) ((this|the|my|our) )?{target})?
    {run} (?P<file>[\\w./-]*(test|spec)[\\w./-]*\\.(py|tsx?|jsx?|mjs|go|rs)(::[\\w:\\[\\]-]+)?)
    {run} (the )?tests? (?P<name>test_\\w+|Test\\w+)
    {run} (?P<function>test_\\w+)
    test (it|everything|this|{project})
    (do|are) (all )?(the |my )?tests (pass|passing|green|ok|okay|work|working|fail|failing)( now)?
    (which|what|how many) (of the )?tests (fail|are failing|failed|pass|are broken|are red)
    (pytest|npm test|npm run test|make test|cargo test|go test|tests?|yarn test|pnpm test)
    """,
    run=r"(?:run|re-?run|execute|start|launch|do|check)",
    which=r"(?:unit|whole|full|entire|failing|project(?:'s)?|integration|python|frontend|backend)",
    tests=r"(?:tests?|test\s*suite|specs?)",
    target=r"(?:(?:file|folder|directory)\s+)?[`\"']?(?P<target>[^\s`\"']+)[`\"']?",
)
_WHY = phrases(
    """
    why (does|do|did|is|has|would) (the )?(tests? )?{test} (fail|fails|failing|failed|broken|red|break|not pass)
    what( is|'s) wrong with (the )?(tests? )?{test}
    """,
    test=r"[`\"']?(?P<test>test_\w+|Test\w+)(?:\(\))?[`\"']?",
)
#: The name of a test without its file.
_BARE = re.compile(r"test_\w+|Test\w+")
_WHOLE_PROJECT = re.compile(r"this|the|here|it|project|repo|repository|workspace|code(?:base)?|app|\.", re.IGNORECASE)
_PLACES = (
    re.compile(r"^(?P<path>[\w./-]+\.py):(?P<line>\d+): ", re.MULTILINE),
    re.compile(r'File "(?:\./)?(?P<path>[^"]+\.py)", line (?P<line>\d+)'),
    re.compile(r"❯ (?:.*\()?(?P<path>[\w./@-]+\.[cm]?[jt]sx?):(?P<line>\d+):\d+"),
    re.compile(r"\((?P<path>[\w./@-]+\.[cm]?[jt]sx?):(?P<line>\d+):\d+\)"),
    re.compile(r"(?P<path>[\w./-]+\.rs):(?P<line>\d+):\d+"),
    re.compile(r"(?P<path>[\w./-]+_test\.go):(?P<line>\d+):"),
)
_EXPECTED = re.compile(r"^E\s{1,}(.*)$", re.MULTILINE)
_END = re.compile(r"^(?:_{3,} .* _{3,}|={3,}.*|FAIL(?:ED)?[: ].*|\s*● .*|---- .* ----|⎯{3,}.*)$", re.MULTILINE)
_SHOWN = 10


class TestRuns:
    example = "run the tests"
    tools = frozenset({"run_tests"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _ASKED.match(question.words)
        if asked is None:
            return None
        target = next((found for name in ("target", "file", "name", "function") if (found := group(asked, name))), "")
        if target == "file" and question.brief.current_file:
            target = question.brief.current_file
        return {"target": target} if target and not _WHOLE_PROJECT.fullmatch(target) else {}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        target, last = str(args.get("target", "")), question.last
        if _BARE.fullmatch(target) and "find_symbols" in question.offered:
            if last is None:
                return Act([("find_symbols", {"query": target})])
            found = locate_test(target, next(each for each in question.returns if each.tool == "find_symbols"))
            if isinstance(found, Decline):
                return found
            args = {"target": found}
            last = None if last.tool == "find_symbols" else last
        # A resumed task runs the tests again that were cancelled.
        if last is None or last.status == "cancelled":
            return Act([("run_tests", args)])
        if last.code == "no_tests_ran":
            return Decline(failure(last))
        # Tests that ran and failed are an answer, too.
        if "passed" in last.details:
            return Say(_describe(last))
        words = f"The tests could not run: {failure(last)}"
        return Say(words) if is_declined(last) else Decline(words)


class FailingTest:
    """Why a test fails shows only when it runs, which an agent that only reads can't do."""

    example = "run the tests"
    tools = frozenset({"find_symbols"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _WHY.match(question.words)
        return None if asked is None else {"test": asked["test"]}

    def next(self, args: JsonObject, question: ParsedRequest) -> Move:
        name, last = str(args["test"]), question.last
        if "run_tests" in question.offered:
            return TestRuns().next({"target": name}, question)
        if last is None:
            return Act([("find_symbols", {"query": name})])
        found = locate_test(name, last)
        if isinstance(found, Decline):
            return found
        place = next(format_place(each) for each in records(last, "symbols") if each["name"] == name)
        return Say(
            f"Unknown: why `{name}` (`{place}`) fails, or whether it does, shows when it runs, and a question runs "
            f"nothing. Say “run {name}”: the answer names the line and what it expected."
        )


def locate_test(name: str, back: ToolReturn) -> str | Decline:
    """The target of `run_tests` for a test that is named without its file."""
    named = [each for each in records(back, "symbols") if each["name"] == name]
    found = [each for each in named if is_test(str(each["path"]))] or named
    if not found:
        names = [str(each["name"]) for each in records(back, "symbols") if is_test(str(each["path"]))]
        near = quote_names([*dict.fromkeys(names)])
        return Decline(f"No test is named `{name}` in this project.{f' There are {near}.' if near else ''}")
    if len({each["path"] for each in found}) > 1:
        places = ", ".join(f"`{format_place(each)}`" for each in found[:_SHOWN])
        return Decline(f"Several tests are named `{name}` ({places}). Say which file: “run the tests in …”.")
    path, parent = str(found[0]["path"]), str(found[0].get("parent") or "")
    if not path.endswith(".py"):
        return path
    return "::".join([path, *parent.split("."), name] if parent else [path, name])


def _describe(last: ToolReturn) -> str:
    passed, failed, skipped = (last.details.get(name) for name in ("passed", "failed", "skipped"))
    counts = f"{passed} passed{f', {skipped} skipped' if skipped else ''} ({last.details.get('framework')})"
    found, output = records(last, "failures"), output_of(last)
    if last.status == "success":
        return f"All tests pass: {counts}." if passed or skipped else "No tests were found."
    if not found:
        head = f"**{failed} failed**, {counts}" if failed else f"The tests failed: {failure(last)}"
        return "\n".join([f"{head}:", "", "```", shorten_output(last), "```"])
    described = [_describe_failure(str(each["name"]), str(each["message"]), output) for each in found[:_SHOWN]]
    more = [f"- … {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return "\n".join([f"**{failed} failed**, {counts}:", "", *described, *more])


def _describe_failure(name: str, message: str, output: str) -> str:
    block = _block(name, output)
    place = ""
    for pattern in _PLACES:
        hits = [hit for hit in pattern.finditer(block) if "site-packages" not in hit["path"]]
        own = [hit for hit in hits if not hit["path"].startswith("/")] or hits
        if own:
            # The last place in the test itself.
            in_test = [hit for hit in own if hit["path"] in name] or own
            place = f"{in_test[-1]['path']}:{in_test[-1]['line']}"
            break
    expected = [line.strip() for line in _EXPECTED.findall(block)][:3]
    problem = " ".join(expected or message.strip().splitlines()[:1])[:300]
    return f"- `{name}`{f' — `{place}`' if place else ''}{f'{chr(10)}  `{problem}`' if problem else ''}"


def _block(name: str, output: str) -> str:
    """The output of one test: from its heading to the next one."""
    bare = name.rpartition("::")[2].partition("[")[0].rpartition(" > ")[2].rpartition(" › ")[2].strip()
    heads = [
        rf"^_+ .*{re.escape(bare)}.* _+$",
        rf"^(?:FAIL|ERROR): {re.escape(bare)}\b.*$",
        rf"^\s*(?:FAIL|×|✖|●)\s.*{re.escape(bare)}.*$",
        rf"^---- .*{re.escape(bare)}.* ----$",
        rf"^.*{re.escape(bare)}.*$",
    ]
    for head in heads:
        starts = list(re.finditer(head, output, re.MULTILINE))
        if starts:
            start = starts[0] if head is not heads[2] else starts[-1]
            rest = output[start.end() :]
            end = _END.search(rest)
            return rest[: end.start()] if end else rest[:4_000]
    return ""


_COVERING = phrases(
    """
    (which|what) tests? (cover|test|reach|call|use|exercise|check)s? (the (file|module) )?{file}
    (which|what) tests? (should|must|do) i run (if|when|after) (i )?{change} (the (file|module) )?{file}
    (show( me)?|list|find)( me)?( all)?( the)? tests? (of|for) (the (file|module) )?{file}
    (is|are) (the (file|module) )?{file} (tested|covered( by (the )?tests?)?)
    """,
    file=FILE,
    change=CHANGE,
)
_MOST_TESTS = 20


class CoveringTests(OneCall):
    example = "which tests cover {file}?"
    tool = "tests_of"
    tools = frozenset({"tests_of"})

    def parse(self, question: ParsedRequest) -> JsonObject | None:
        asked = _COVERING.match(question.words)
        return {"path": group(asked, "file").removeprefix("./")} if asked is not None else None

    def answer(self, args: JsonObject, last: ToolReturn) -> str:
        found = records(last, "hits")
        if not found:
            return last.content
        lines = bulleted([f"`{format_place(each)}` {each['via']}" for each in found], _MOST_TESTS)
        return "\n".join([f"These tests reach `{args['path']}`, the nearest first:", "", *lines])
