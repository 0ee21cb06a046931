"""A review by rules: findings, changed lines, and the rules that need no syntax tree."""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from tools.code.graph import Graph
from tools.code.modules import Modules
from tools.code.outline import OutlineItem, outline_of
from tools.code.project import ResolvedImport, resolve_imports
from tools.code.source import SourceText
from tools.parsed import parse_json, parse_toml
from tools.patch import read_diff
from tools.protected import secret_part
from tools.test_files import is_test

Severity = Literal["error", "warning", "hint"]
Rule = Literal["secret", "todo", "debug", "conflict", "syntax", "import", "test", "leftover", "size", "style"]
ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "hint": 2}

DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--unified=0", "--src-prefix=a/", "--dst-prefix=b/")

_CONFLICT = re.compile(r"<{7}(\s|$)")
_LEFTOVER = re.compile(r"(\.(orig|rej|bak|swp|swo|tmp)|~)$|(^|/)(\.DS_Store|Thumbs\.db)$")
_LARGE = 500_000
_LONG = 1_000
#: How many importing steps away a test may be.
_FAR = 3
_UNTESTED = 4

_KEYS = {
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})\b",
    "a GitLab token": r"\bglpat-[\w-]{20,}",
    "an Anthropic key": r"\bsk-ant-[\w-]{20,}",
    "an OpenAI key": r"\bsk-(?:proj-)?[A-Za-z0-9_-]{32,}",
    "a Stripe key": r"\b[sr]k_live_[A-Za-z0-9]{16,}",
    "a Slack token": r"\bxox[abposr]-[A-Za-z0-9-]{10,}",
    "a Google key": r"\bAIza[\w-]{35}\b",
    "an npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "a password in an address": r"\b[a-z][a-z0-9+]*://[^\s:/@'\"{}$<>]+:(?![$<{*])[^\s:/@'\"{}$<>]{6,}@[\w.-]+\.[a-z]{2,}",
}
_KEY_PATTERNS = [(what, re.compile(pattern)) for what, pattern in _KEYS.items()]
_NAMED_SECRET = re.compile(
    r"""(?i)\b[\w-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|private[_-]?key)[\w-]*["']?"""
    r"""\s*[:=]\s*["'`]([^"'`\s]{8,})["'`]"""
)
_PLACEHOLDER = re.compile(
    r"(?i)example|changeme|change_me|placeholder|your[_-]|dummy|fake|test|xxx|\.\.\.|todo|sample|<|\$\{|\{\{|%\(|secret$|password$"
)
_RANDOM = 3.2
_REVOKE = "remove it, keep it outside the repository, and revoke it: everyone with access has seen it."


class ReviewFinding(NamedTuple):
    path: str
    line: int
    severity: Severity
    message: str
    fix: str
    rule: Rule
    #: The file that an import needs and that is not listed; .gitignore may hide it.
    missing: str = ""

    def render(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"- **{self.severity}** `{where}` {self.message} Fix: {self.fix}"


class ReviewedFile:
    """A file under review. `lines` are the changed ones; None means all."""

    def __init__(
        self, path: str, content: bytes, lines: frozenset[int] | None = None, *, created: bool = False
    ) -> None:
        self.path = path
        self.content = content
        self.lines = lines
        self.created = created
        self.source = SourceText(path, content)
        self._imports: list[ResolvedImport] | None = None

    def imports(self, modules: Modules) -> list[ResolvedImport]:
        if self._imports is None:
            self._imports = resolve_imports(self.source, modules)
        return self._imports

    def counts(self, line: int) -> bool:
        return self.lines is None or line in self.lines

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class ChangedLines(NamedTuple):
    path: str
    lines: frozenset[int]
    created: bool


def parse_changed_lines(diff: str) -> list[ChangedLines]:
    """The new lines of each file of a diff without context. Deleted files are left out."""
    return [
        ChangedLines(
            file.target,
            frozenset(line for hunk in file.hunks for line in range(hunk.new_start, hunk.new_start + len(hunk.new))),
            file.source is None,
        )
        for file in read_diff(diff)
        if file.target is not None
    ]


def check_name(path: str) -> ReviewFinding | None:
    """Check the name of a file, whatever it holds."""
    if _LEFTOVER.search(path):
        return ReviewFinding(
            path, 0, "warning", "A leftover of a merge, an editor or a backup.", "delete it.", "leftover"
        )
    if secret_part(path):
        message = "A file of this name usually holds secrets."
        return ReviewFinding(
            path, 0, "error", message, "remove it from the repository and add it to .gitignore.", "secret"
        )
    return None


def check_text(file: ReviewedFile) -> list[ReviewFinding]:
    found = [*_check_size(file), *_check_data(file)]
    for number, line in enumerate(file.text.splitlines(), 1):
        if file.counts(number) and _CONFLICT.match(line):
            fix = "choose one side and delete the markers."
            found.append(
                ReviewFinding(file.path, number, "error", "A merge conflict marker was left here.", fix, "conflict")
            )
    return found


def _check_size(file: ReviewedFile) -> list[ReviewFinding]:
    found = []
    if file.created and len(file.content) > _LARGE:
        size = f"{len(file.content) / 1_000_000:.1f} MB"
        message = f"A file of {size} is added."
        found.append(ReviewFinding(file.path, 0, "warning", message, "keep large files elsewhere.", "size"))
    lines = file.content.count(b"\n")
    if (file.created or file.lines is None) and lines > _LONG and file.source.language is not None:
        found.append(ReviewFinding(file.path, 1, "hint", f"The file has {lines} lines.", "split it by topic.", "size"))
    return found


def _check_data(file: ReviewedFile) -> list[ReviewFinding]:
    try:
        if file.path.endswith(".json") and not file.path.rpartition("/")[2].startswith(("tsconfig", "jsconfig")):
            parse_json(file.content)
        elif file.path.endswith(".toml"):
            parse_toml(file.text)
    except json.JSONDecodeError as error:
        message = f"This is not valid JSON: {error.msg}."
        return [ReviewFinding(file.path, error.lineno, "error", message, "correct it.", "syntax")]
    except ValueError as error:
        at = re.search(r"line (\d+)", str(error))
        line, kind = int(at[1]) if at else 1, file.path.rpartition(".")[2].upper()
        return [ReviewFinding(file.path, line, "error", f"This is not valid {kind}: {error}.", "correct it.", "syntax")]
    return []


def check_secrets(file: ReviewedFile) -> list[ReviewFinding]:
    """Find keys and passwords. A finding never shows them."""
    found = []
    for number, line in enumerate(file.text.splitlines(), 1):
        if not file.counts(number) or len(line) > 2_000:
            continue
        what = next((what for what, pattern in _KEY_PATTERNS if pattern.search(line)), None)
        if what is not None:
            found.append(ReviewFinding(file.path, number, "error", f"This looks like {what}.", _REVOKE, "secret"))
        elif (named := _NAMED_SECRET.search(line)) and not _PLACEHOLDER.search(named[1]):
            random = _entropy(named[1]) > _RANDOM and re.search(r"\d", named[1]) is not None
            severity: Severity = "error" if random and len(named[1]) >= 16 else "warning"
            severity = "hint" if is_test(file.path) else severity
            message = "This looks like a password or key in plain text."
            found.append(ReviewFinding(file.path, number, severity, message, "read it from the environment.", "secret"))
    return found


def _entropy(text: str) -> float:
    """Return the bits per character: about 2.5 for words, more than 3.5 for random keys."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def check_tests(reviewed: Sequence[ReviewedFile], graph: Graph, files: Sequence[str]) -> list[ReviewFinding]:
    """Find changed functions in files that no test imports, directly or not."""
    if not any(is_test(path) for path in files):
        return []  # the project has no tests at all
    untested = [file for file in reviewed if _is_untested(file, graph)]
    changed = [(file, item) for file in untested if (item := _first_changed_function(file))]
    if len(changed) > _UNTESTED:
        names = ", ".join(f"`{file.path}`" for file, _ in changed[:_UNTESTED])
        message = f"No test imports {len(changed)} files with changed functions, directly or not: {names}, …"
        return [ReviewFinding(changed[0][0].path, 0, "hint", message, "add tests that call the changed code.", "test")]
    why, fix = "No test imports this file, so", "add a test that calls it."
    return [
        ReviewFinding(file.path, item.line, "hint", f"{why} `{item.name}` is untested.", fix, "test")
        for file, item in changed
    ]


def _is_untested(file: ReviewedFile, graph: Graph) -> bool:
    if is_test(file.path) or file.source.family is None or file.path.endswith("__init__.py"):
        return False
    return not any(is_test(path) for level in graph.affected([file.path], _FAR) for path in level)


def _first_changed_function(file: ReviewedFile) -> OutlineItem | None:
    outline = outline_of(file.source)
    for item in outline.items if outline else []:
        within = file.lines is None or any(item.line <= line <= item.end_line for line in file.lines)
        if item.complexity is not None and within:
            return item
    return None
