"""One run of a project's tests: its targets and its result."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from sidecar.verify.result import CheckResult, evidence
from sidecar.verify.runner import exit_code, is_refused, refusal_reason
from sidecar.wire.events import Check
from tools.ledger import Outcome
from tools.test_frameworks import Framework
from tools.text import first_words

#: Runners that take the names of files behind `npm test --`.
_TAKES_FILES = re.compile(r"\b(?:vitest|jest|mocha|ava|(?:node|tsx)\b.*--test)\b")
_UNITTEST_NAME = re.compile(r"^(?P<test>\w+) \((?P<owner>[\w.]+)\)")
#: Exit codes of a run without a single test; pytest has two of its own.
_NO_TESTS = (0, 4, 5)
#: Your request asks to fix something.
ASKS_FOR_FIX = re.compile(
    r"\b(?:fix\w*|bugs?|repair\w*|broken|fail\w*|wrong|errors?|crash\w*|correct\w*|mend|solve|debug|pass|passing|green)\b",
    re.IGNORECASE,
)


_NO_MODULE = re.compile(
    r"(?:No module named|Cannot find (?:package|module)|Failed to resolve import) ['\"]([^'\"]+)['\"]"
)


class FailedTest(NamedTuple):
    name: str
    message: str

    @property
    def kind(self) -> str:
        """The kind of error: failures of different kinds are different failures."""
        word = re.match(r"[\w.]+", self.message.strip())
        kind = word[0].rpartition(".")[2] if word else ""
        return "AssertionError" if kind in ("assert", "Failed") else kind

    @property
    def file(self) -> str:
        return self.name.partition("::")[0].partition(" > ")[0]

    @property
    def missing_module(self) -> str:
        """The module whose absence kept a whole file of tests from being loaded."""
        alone = "::" not in self.name and " > " not in self.name
        return found[1] if alone and (found := _NO_MODULE.search(self.message)) else ""


@dataclass(frozen=True, slots=True)
class TestRun:
    """`state`: it ran to an exit code, wasn't allowed, ran out of time, lacked packages, or couldn't run at all."""

    __test__ = False

    state: Literal["ran", "refused", "late", "uninstalled", "missing"]
    why: str = ""
    command: str = ""
    exit_code: int | None = None
    passed: int = 0
    failures: list[FailedTest] = field(default_factory=list)
    duration_ms: float = 0
    output: str = ""
    #: Its output says how many tests ran.
    counted: bool = False

    @property
    def green(self) -> bool:
        # A run with failures that exits with 0 was manipulated.
        return self.state == "ran" and self.exit_code == 0 and not self.failures

    @property
    def empty(self) -> bool:
        """It ran not a single test, so it proves nothing."""
        return (
            self.state == "ran"
            and self.counted
            and not self.passed
            and not self.failures
            and self.exit_code in _NO_TESTS
        )

    @property
    def names(self) -> set[str]:
        return {failed.name for failed in self.failures}


def parse_run(outcome: Outcome | None, seconds: float | None = None) -> TestRun:
    if outcome is None:
        return TestRun("late", f"they took longer than {seconds or 0:g} s")
    details: dict[str, Any] = outcome.details if isinstance(outcome.details, dict) else {}
    code = exit_code(outcome)
    if is_refused(outcome):
        return TestRun("refused", refusal_reason(outcome))
    if details.get("timedOut"):
        return TestRun("late", "they ran into the time limit of run_tests")
    if code is None:
        said = first_words((outcome.error.message if outcome.error else outcome.content).partition("\n")[0], 400)
        if outcome.error is not None and outcome.error.code == "packages_missing":
            return TestRun("uninstalled", f"{said[:1].lower()}{said[1:]}")
        return TestRun("missing", said)
    return TestRun(
        "ran",
        command=str(details.get("command", "")),
        exit_code=code,
        passed=int(details.get("passed") or 0),
        failures=[FailedTest(str(each["name"]), str(each["message"])) for each in details.get("failures") or []],
        duration_ms=outcome.duration_ms,
        output=str(details.get("output", "")),
        counted=details.get("counted") is True,
    )


def select_targets(framework: Framework, script: str, files: Sequence[str]) -> list[str]:
    """The test files as this framework takes them; none if it can only run everything."""
    match framework.name:
        case "pytest" | "unittest":
            return [path for path in files if path.endswith(".py")]
        case "npm" if _TAKES_FILES.search(script):
            return [path for path in files if not path.endswith((".py", ".go", ".rs"))]
        case "go":
            folders = dict.fromkeys(posixpath.dirname(path) for path in files if path.endswith(".go"))
            return [f"./{folder}" if folder else "." for folder in folders]
    return []


def name_targets(framework: str, names: Sequence[str]) -> list[str] | None:
    """Just these tests as targets; `None` if the framework can't run single tests."""
    if framework == "pytest":
        return list(names)
    if framework == "unittest":
        found = [_UNITTEST_NAME.match(name) for name in names]
        dotted = [_dotted(match["test"], match["owner"]) for match in found if match]
        return dotted if len(dotted) == len(names) else None
    return None


def _dotted(test: str, owner: str) -> str:
    return owner if owner.endswith(f".{test}") else f"{owner}.{test}"


_EXPLAINS = re.compile(
    r"Error\b|!==|===|\b[Ee]xpected\b|\b[Aa]ctual\b|\bassert|panicked|\bgot\b|^\s+at .*[\w)]:\d+|:\d+:\d+"
)
_PLACE = re.compile(r"([\w./-]+:\d+): ")
_EXPLANATIONS = 15
_NOISE = re.compile(r"node:internal|node_modules/|site-packages/")


def find_explanations(output: str) -> list[str]:
    """The lines that explain a failure, for failures without a message."""
    found = [line.strip() for line in output.splitlines() if _EXPLAINS.search(line) and not _NOISE.search(line)]
    return list(dict.fromkeys(found))[:_EXPLANATIONS]


def render_failure_line(failed: FailedTest, output: str) -> str:
    """A failure on one line, with its place in the code from the traceback."""
    test = failed.name.rpartition("::")[2].partition("[")[0]
    place = ""
    inside = False
    for line in output.splitlines():
        if line.startswith("_") and line.endswith("_"):
            inside = test in re.split(r"\W+", line[:500])
        elif line.startswith("==="):
            inside = False
        elif inside and (match := _PLACE.match(line[:500])):
            place = f" ({match[1]})"
    message = f": {failed.message}" if failed.message else ""
    return f"{failed.name}{message}{place}"


def check_run(name: str, run: TestRun) -> CheckResult:
    """A run as it is, without asking whether its failures are older than the task."""
    if run.state != "ran":
        return CheckResult(notes=[f"The tests did not run: {run.why}."], doubt=True)
    if run.empty:
        return CheckResult(notes=["No test ran."], doubt=True)
    lines = [render_failure_line(failed, run.output) for failed in run.failures]
    if not run.green:
        lines = lines or find_explanations(run.output) or [f"exit code {run.exit_code}"]
    return CheckResult(as_check(name, run, run.green, lines), proves=bool(run.passed) or not run.counted)


def as_check(name: str, run: TestRun, passed: bool, lines: list[str]) -> Check:
    return Check(
        name=name,
        command=run.command,
        exit_code=run.exit_code,
        passed=passed,
        duration_ms=run.duration_ms,
        evidence=evidence(lines),
    )
