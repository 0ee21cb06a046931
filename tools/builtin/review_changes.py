import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import listed, plural
from tools.code.files import AT_ONCE, SIZE, list_files, open_sources
from tools.code.graph import Graph, import_graph
from tools.code.modules import Modules
from tools.code.review import (
    DIFF,
    ORDER,
    ChangedLines,
    ReviewedFile,
    ReviewFinding,
    check_name,
    check_secrets,
    check_tests,
    check_text,
    parse_changed_lines,
)
from tools.code.review_rules import check_imports, check_tree, imported_files
from tools.code.source import SourceText
from tools.errors import FileMissing, InvalidArguments, ToolError
from tools.git import GitPath, Reference, run_git
from tools.host import Host
from tools.paths import folder_prefix
from tools.protected import secret_part
from tools.skipped import is_cache, is_skipped, without_build_output
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

_FILES = 300
_SHOWN = 40
_LINES = re.compile(r"^(?P<path>.+):(?P<lines>\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)$")
_RULES = "secrets, conflict markers, syntax, imports, leftovers, hidden errors, TODOs, large files, missing tests"


class ReviewChangesArguments(Arguments):
    paths_: Annotated[
        list[GitPath],
        Field(alias="paths", max_length=500, description="Whole files or folders, or lines: a.py:3-9,12."),
    ] = []
    ref: Annotated[Reference, Field(description="A commit or range instead of the uncommitted changes.")] | None = None

    def paths(self) -> tuple[str, ...]:
        return tuple(_parted(path)[0] for path in self.paths_) or (".",)


class ReviewChanges:
    spec = ToolSpec(
        name="review_changes",
        description=f"Review uncommitted changes, a commit, or files with rules: {_RULES}.",
        arguments=ReviewChangesArguments,
        executor="hybrid",
        timeout=60.0,
        retryable=True,
    )

    async def run(self, args: ReviewChangesArguments, host: Host, call: Call, output: Output) -> ToolResult:
        files = await list_files(host, call)
        if args.ref is not None:
            what = f"commit {args.ref}" if ".." not in args.ref else args.ref
            reviewed, names = await _of_commit(args.ref, args.paths(), host, call)
        elif args.paths_:
            what = listed(args.paths(), 3)
            reviewed, names = await _of_files(args.paths_, files, host, call)
        else:
            what = "the uncommitted changes"
            reviewed, names = await _uncommitted(host, call)
        if not names:
            what = "the workspace" if args.paths_ and args.paths() == (".",) else what
            return ToolResult(f"Nothing to review in {what}.", {"findings": []}, "nothing to review")
        modules = await asyncio.to_thread(Modules, files)
        needed = await asyncio.to_thread(lambda: {path for file in reviewed for path in imported_files(file, modules)})
        sources = await open_sources(host, sorted(needed)[:_FILES])
        graph = await import_graph(host, call, modules)
        found = await asyncio.to_thread(_findings, reviewed, names, files, modules, sources, graph)
        found = [each for each in found if not await _exists_unlisted(each, host)]
        return _result(what, reviewed, names, found)


def _parted(path: str) -> tuple[str, frozenset[int] | None]:
    """Split `a.py:3-9,12` into the path and its lines."""
    match = _LINES.match(path)
    if match is None:
        return path, None
    lines: set[int] = set()
    for part in match["lines"].split(","):
        first, _, last = part.partition("-")
        if int(last or first) - int(first) > 1_000_000:
            raise InvalidArguments(f"{part} is not a valid range of lines.")
        lines.update(range(int(first), int(last or first) + 1))
    return match["path"], frozenset(lines)


async def _of_files(
    paths: Sequence[str], files: Sequence[str], host: Host, call: Call
) -> tuple[list[ReviewedFile], list[str]]:
    wanted: dict[str, frozenset[int] | None] = {}
    for given in paths:
        path, lines = _parted(given)
        kind = (await host.stat(path)).kind
        if kind != "directory":
            wanted[path] = lines
            continue
        inside = [each for each in files if each.startswith(folder_prefix(path))]
        # Nothing is listed in an installed package, until somebody names it.
        wanted |= dict.fromkeys(inside or await list_files(host, call, path))
    reviewed = await _read_all([(path, lines, False) for path, lines in list(wanted.items())[:_FILES]], host)
    return reviewed, list(wanted)


async def _uncommitted(host: Host, call: Call) -> tuple[list[ReviewedFile], list[str]]:
    try:
        diff = await run_git(host, call, [*DIFF, "HEAD", "--"])
    except InvalidArguments:  # there is no commit yet
        diff = await run_git(host, call, [*DIFF, "--cached", "--"])
    changed = await asyncio.to_thread(lambda: [each for each in parse_changed_lines(diff) if not is_cache(each.path)])
    other = await run_git(host, call, ["ls-files", "--others", "--exclude-standard", "-z"])
    new = await asyncio.to_thread(lambda: [path for path in other.split("\0") if path and not is_skipped(path)])
    changed += [ChangedLines(path, frozenset(), True) for path in await without_build_output(host, new)]
    first = [(each.path, None if each.created else each.lines, each.created) for each in changed[:_FILES]]
    return await _read_all(first, host), [each.path for each in changed]


async def _of_commit(ref: str, paths: Sequence[str], host: Host, call: Call) -> tuple[list[ReviewedFile], list[str]]:
    after = ["--", *(path for path in paths if path != ".")]
    if ".." in ref:
        diff, end = await run_git(host, call, [*DIFF, ref, *after]), ref.rpartition("..")[2].lstrip(".") or "HEAD"
    else:
        diff, end = await run_git(host, call, ["show", *DIFF[1:], "--format=", ref, *after]), ref
    changed = await asyncio.to_thread(parse_changed_lines, diff)
    reviewed = []
    for each in changed[:_FILES]:
        if secret_part(each.path):
            continue  # its name is a finding by itself
        try:
            text = await run_git(host, call, ["show", "--no-textconv", f"{end}:{each.path}"])
        except ToolError:
            continue
        lines = None if each.created else each.lines
        reviewed.append(ReviewedFile(each.path, text.encode("utf-8", "surrogateescape"), lines, created=each.created))
    return reviewed, [each.path for each in changed]


async def _read_all(wanted: Iterable[tuple[str, frozenset[int] | None, bool]], host: Host) -> list[ReviewedFile]:
    """Read paths with the lines to review (all if None) and whether they are new; files that are gone are left out."""
    reviewed = []
    for number, (path, lines, created) in enumerate(wanted, 1):
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
        try:
            content = await host.read(path, SIZE)
        except ToolError:
            continue
        content = b"" if b"\0" in content[:8_192] else content
        reviewed.append(ReviewedFile(path, content, lines, created=created))
    return reviewed


def _findings(
    reviewed: Sequence[ReviewedFile],
    names: Sequence[str],
    files: Sequence[str],
    modules: Modules,
    sources: Mapping[str, SourceText],
    graph: Graph,
) -> list[ReviewFinding]:
    found = [finding for path in names if (finding := check_name(path)) is not None]
    for file in reviewed:
        found += check_text(file) + check_secrets(file) + check_tree(file) + check_imports(file, modules, sources)
    found += check_tests(reviewed, graph, files)
    return sorted(set(found), key=lambda each: (ORDER[each.severity], each.path, each.line))


async def _exists_unlisted(finding: ReviewFinding, host: Host) -> bool:
    """Whether a module that looked missing exists after all, in a file that .gitignore excludes."""
    name = finding.missing
    if not name:
        return False
    if name.startswith("."):
        folder = finding.path.rpartition("/")[0]
        return await _exists(host, f"{folder}/{name}" if folder else name)
    return await _exists(host, name)


async def _exists(host: Host, path: str) -> bool:
    for ending in ("", ".py", ".ts", ".js", ".d.ts", "/index.ts", "/index.js"):
        try:
            await host.stat(f"{path}{ending}")
        except FileMissing:
            continue
        except ToolError:
            return False
        return True
    return False


def _result(
    what: str, reviewed: Sequence[ReviewedFile], names: Sequence[str], found: Sequence[ReviewFinding]
) -> ToolResult:
    counts = Counter(each.severity for each in found)
    counted = ", ".join(plural(counts[name], name) for name in ORDER if counts[name])
    lines = [f"Reviewed {what} ({plural(len(names), 'file')}) by rules: {counted or 'no findings'}."]
    if found:
        lines += ["", *(each.render() for each in found[:_SHOWN])]
    else:
        lines.append(f"Checked: {_RULES}. Rules can't tell whether the code does what it should.")
    if len(found) > _SHOWN:
        lines.append(f"- … {len(found) - _SHOWN} more")
    if len(names) > _FILES:
        lines.append(f"Only the first {_FILES} files were read.")
    details: list[JsonValue] = [
        {
            "path": each.path,
            "line": each.line,
            "severity": each.severity,
            "message": each.message,
            "fix": each.fix,
            "rule": each.rule,
        }
        for each in found[:200]
    ]
    return ToolResult("\n".join(lines), {"findings": details}, counted or "no findings")
