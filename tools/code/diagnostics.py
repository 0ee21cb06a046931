"""Runs the project's own checkers and reads their findings into one form.

Files that no installed checker covers are parsed for syntax errors, with Python's own parser or tree-sitter.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tools.code.checkers import ESLINT, MYPY, PYRIGHT, RUFF, TSC, TY, Checker, find_program, is_configured
from tools.code.files import AT_ONCE, list_files
from tools.code.languages import language_of
from tools.code.outline import outline_of
from tools.code.source import SourceText
from tools.errors import CommandMissing
from tools.host import Host, OutputCollector, ProcessResult
from tools.parsed import parse_json, parse_python
from tools.paths import as_argument
from tools.skipped import is_skipped
from tools.spec import Call, PlannedCommand, ResultSource
from tools.text_files import exists

_FILES = 300
_SIZE = 1 << 20
_WATCHED = 1_000
#: Characters of what a failed checker says.
_SAID = 500
#: The first of these that the project has checks the types of Python.
_PYTHON_TYPES = (MYPY, PYRIGHT, TY)
_SETTINGS = (
    "pyproject.toml",
    "setup.cfg",
    "ruff.toml",
    "mypy.ini",
    "ty.toml",
    "tsconfig.json",
    "package.json",
    ".eslintrc.json",
)
_MYPY = re.compile(r"^(.+?):(\d+):(?:(\d+):)? (error|warning): (.*)$", re.MULTILINE)
_TY = re.compile(r"^(.+?):(\d+):(\d+): (error|warning)(\[.*)$", re.MULTILINE)
_TSC = re.compile(r"^(.+?)\((\d+),(\d+)\): (error|warning) (.*)$", re.MULTILINE)


class CheckerFinding(NamedTuple):
    path: str
    line: int
    column: int
    severity: str
    message: str
    checker: str


class CheckerReport(NamedTuple):
    """`sources` are the files that the findings depend on; empty if there are too many to check at each cache hit.

    `failed` says of each checker that found out nothing why.
    """

    diagnostics: list[CheckerFinding]
    checkers: tuple[str, ...]
    sources: tuple[ResultSource, ...]
    failed: tuple[str, ...] = ()


async def run_checkers(paths: Sequence[str], host: Host, call: Call) -> CheckerReport:
    for path in paths:
        await host.stat(path)
    sources = await _sources(host, call)
    files = await _files(paths, host, call)
    found: list[CheckerFinding] = []
    used: list[str] = []
    failed: list[str] = []
    for checker, argv in await _commands(paths, files, host):
        if checker in _PYTHON_TYPES and any(each.name in used for each in _PYTHON_TYPES):
            continue
        call.check_command(argv)
        output = OutputCollector()
        try:
            ended = await host.run(
                argv, call_id=call.id, timeout=call.timeout, output=output, killed=call.killed, log=False
            )
        except CommandMissing:
            continue
        findings = _FINDINGS[checker.name](output.text, host)
        if why := _failure(ended, findings, output, call.timeout):
            failed.append(f"{checker.name} did not check: {why}")
            continue
        used.append(checker.name)
        found += findings
    found = [each for each in found if each.checker != TSC.name or _wanted(each.path, paths)]
    # What others installed or generated is no problem of the project.
    found = [each for each in found if each.path in paths or not is_skipped(each.path)]
    syntax = await _syntax([path for path in files if not _covered(path, used)], host)
    if syntax is not None:
        used.append("syntax")
        found += syntax
    # Two checkers may report the same; the order must not depend on which came first.
    return CheckerReport(sorted(set(found)), tuple(used), () if failed else sources, tuple(failed))


def _failure(ended: ProcessResult, findings: Sequence[CheckerFinding], output: OutputCollector, timeout: float) -> str:
    """Why a checker's silence means nothing; empty if it checked."""
    if ended.timed_out:
        return f"it took longer than {timeout:g} s."
    if findings or ended.exit_code == 0:
        return ""
    said = (output.errors.strip() or output.text.strip())[:_SAID]
    return said or ended.ending


async def plan_checkers(paths: Sequence[str], host: Host, call: Call) -> list[PlannedCommand]:
    """The commands that `run_checkers` may run."""
    found = await _commands(paths, await _files(paths, host, call), host)
    return [PlannedCommand(tuple(argv)) for _, argv in found]


async def _commands(paths: Sequence[str], files: Sequence[str], host: Host) -> list[tuple[Checker, list[str]]]:
    """The checkers that the project has, is configured for and has files for."""
    found: list[tuple[Checker, list[str]]] = []
    for checker in (RUFF, *_PYTHON_TYPES, TSC, ESLINT):
        mine = [path for path in files if path.endswith(checker.suffixes)]
        if not mine or (checker.checks_types and not await is_configured(checker, host)):
            continue
        if (program := await find_program(checker, host)) is not None:
            own = f"{host.workspace}/{program}" if "/" in program else program
            # A linter would complain about files in other languages.
            named = [path for path in paths if path in mine or path not in files] or ["."]
            # What these check of the whole project is in their configuration.
            alone = {MYPY: mine[:_FILES], TSC: [], **({} if paths else {PYRIGHT: [], TY: []})}
            arguments = alone.get(checker, named)
            found.append((checker, [own, *checker.report, *map(as_argument, arguments)]))
    return found


async def _sources(host: Host, call: Call) -> tuple[ResultSource, ...]:
    """A finding depends on all source files and on the configuration; a new file changes its directory."""
    files = await _files((), host, call)
    if len(files) > _WATCHED:
        return ()
    folders = {folder for path in files for folder in _folders(path)}
    settings = [name for name in _SETTINGS if await exists(host, name)]
    return tuple([ResultSource(await host.stat(path)) for path in [*files, *folders, *settings]])


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return [".", *("/".join(parts[: length + 1]) for length in range(len(parts)))]


def _covered(path: str, used: Sequence[str]) -> bool:
    return ("ruff" in used and path.endswith((".py", ".pyi"))) or ("tsc" in used and path.endswith((".ts", ".tsx")))


async def _files(paths: Sequence[str], host: Host, call: Call) -> list[str]:
    plain = [path for path in paths if (await host.stat(path)).kind == "file"]
    folders = [path for path in paths if path not in plain] or ([] if paths else ["."])
    for folder in folders:
        listed = await list_files(host, call, folder)
        plain += await asyncio.to_thread(lambda names: [name for name in names if language_of(name)], listed)
    return plain[: _FILES * 10]


def _ruff(text: str, host: Host) -> list[CheckerFinding]:
    return [
        CheckerFinding(
            _relative(each["filename"], host),
            each["location"]["row"],
            each["location"]["column"],
            "error" if not each.get("code") or str(each["code"]).startswith(("E9", "F8", "invalid")) else "warning",
            f"{each.get('code') or 'syntax'} {each['message']}",
            "ruff",
        )
        for each in _json(text)
    ]


def _pyright(text: str, host: Host) -> list[CheckerFinding]:
    report = _json(text)
    entries = report.get("generalDiagnostics", []) if isinstance(report, dict) else []
    return [
        CheckerFinding(
            _relative(each["file"], host),
            each["range"]["start"]["line"] + 1,
            each["range"]["start"]["character"] + 1,
            each["severity"],
            each["message"],
            "pyright",
        )
        for each in entries
        if "range" in each
    ]


def _eslint(text: str, host: Host) -> list[CheckerFinding]:
    return [
        CheckerFinding(
            _relative(file["filePath"], host),
            each.get("line", 1),
            each.get("column", 1),
            "error" if each.get("severity") == 2 else "warning",
            f"{each.get('ruleId') or 'syntax'} {each['message']}",
            "eslint",
        )
        for file in _json(text)
        for each in file["messages"]
    ]


async def _syntax(paths: list[str], host: Host) -> list[CheckerFinding] | None:
    found: list[CheckerFinding] = []
    for start in range(0, min(len(paths), _FILES), AT_ONCE):
        group = paths[start : min(start + AT_ONCE, _FILES)]
        read = [(path, await host.read(path, _SIZE)) for path in group]
        found += await asyncio.to_thread(_syntax_errors, read)
    return found if paths else None


def _syntax_errors(files: Sequence[tuple[str, bytes]]) -> list[CheckerFinding]:
    found: list[CheckerFinding] = []
    for path, content in files:
        if path.endswith((".py", ".pyi")):
            found += _parsed(path, content)
        elif outline := outline_of(SourceText(path, content)):
            found += [CheckerFinding(path, line, 1, "error", "syntax error", "syntax") for line in outline.errors[:20]]
    return found


def _parsed(path: str, content: bytes) -> list[CheckerFinding]:
    try:
        parse_python(content)
    except SyntaxError as error:
        return [
            CheckerFinding(path, error.lineno or 1, error.offset or 1, "error", f"syntax error: {error.msg}", "syntax")
        ]
    except ValueError as error:
        return [CheckerFinding(path, 1, 1, "error", f"syntax error: {error}", "syntax")]
    return []


def _matched(pattern: re.Pattern[str], text: str, checker: str, host: Host) -> list[CheckerFinding]:
    return [
        CheckerFinding(_relative(path, host), int(line), int(column or 1), severity, message, checker)
        for path, line, column, severity, message in pattern.findall(text)
    ]


#: How the output of each checker is read.
_FINDINGS: Mapping[str, Callable[[str, Host], list[CheckerFinding]]] = {
    "ruff": _ruff,
    "mypy": lambda text, host: _matched(_MYPY, text, "mypy", host),
    "pyright": _pyright,
    "ty": lambda text, host: _matched(_TY, text, "ty", host),
    "tsc": lambda text, host: _matched(_TSC, text, "tsc", host),
    "eslint": _eslint,
}


def _relative(path: str, host: Host) -> str:
    return path.removeprefix(f"{host.workspace}/").removeprefix("./")


def _wanted(path: str, paths: Sequence[str]) -> bool:
    within = (path == each or each in (".", "") or path.startswith(f"{each.rstrip('/')}/") for each in paths)
    return not paths or any(within)


def _json(text: str) -> Any:
    try:
        return parse_json(text) if text else []
    except ValueError:
        return []
