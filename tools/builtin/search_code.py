import re
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field, JsonValue

from sidecar.wire.text import plural
from tools.code.files import find_near, parsed
from tools.errors import FileMissing, ToolError
from tools.host import Host, SearchingHost
from tools.paths import folder_prefix
from tools.ripgrep import only, run_ripgrep
from tools.secret_files import KEY_LINE, keys_in, secret_paths
from tools.skipped import LEFT_OUT, skip_globs, without_build_output
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

_LINE = 400
_CONTEXT = 20
_COMPARED = 300
_MAX_BYTES = 16 << 20
#: Files that are named if not all matches are shown.
_FILES_NAMED = 20
_MAX_OUTPUT = 4 << 20
#: `path NUL line : text`; context lines have a dash instead of the colon.
_HIT = re.compile(r"([^\0\n]*)\0(\d+)([:-])(.*)")
_MATCH = ":"
#: How a line of a private key ends, without the rest of a string literal.
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/=]{16}\Z")


class _Line(NamedTuple):
    path: str
    number: int
    #: A colon for a match, a dash for its context.
    mark: str
    text: str


def _at_most(given: object, limit: int) -> object:
    return min(given, limit) if isinstance(given, int) else given


class SearchCodeArguments(Arguments):
    query: Annotated[str, Field(min_length=1, max_length=10_000)]
    path: str = "."
    glob: Annotated[str, Field(description="Only files that match, for example *.py or !tests/**.")] | None = None
    regex: Annotated[bool, Field(description="Treat the query as a regular expression.")] = False
    case_sensitive: bool = True
    #: More would only make the answer longer, so a larger number is no error.
    context: Annotated[int, Field(ge=0, le=_CONTEXT), BeforeValidator(lambda given: _at_most(given, _CONTEXT))] = 0
    max_results: Annotated[int, Field(ge=1, le=2_000)] = 200


class SearchCode:
    spec = ToolSpec(
        name="search_code",
        description=f"Search file contents with ripgrep; {LEFT_OUT}",
        arguments=SearchCodeArguments,
        brief="Search file contents (ripgrep). context: lines around matches; glob: such as *.py or !tests/**.",
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: SearchCodeArguments, host: Host, call: Call, output: Output) -> ToolResult:
        try:
            where = await host.stat(args.path)
        except FileMissing as error:
            if near := await find_near(args.path, host, call):
                raise FileMissing(error.message, advice=f"Did you mean {' or '.join(near)}?") from error
            raise
        inside = where.kind == "directory"
        directory = args.path if inside else args.path.rpartition("/")[0] or "."
        argv = ["--null", "--with-filename", "--line-number", "--no-heading", "--hidden"]
        argv += ["--max-columns=1000", "--max-columns-preview"]
        argv += [] if args.regex else ["--fixed-strings"]
        argv += [] if args.case_sensitive else ["--ignore-case"]
        argv += [f"--context={args.context}"] if args.context else []
        argv += [f"--max-count={args.max_results + 1}"]
        # The last matching glob wins, so these are always excluded.
        argv += [*_glob_options(args.glob), *(skip_globs(directory, args.glob) if args.glob else ())]
        argv += ["--regexp", args.query, "--", "." if inside else f"./{args.path.rpartition('/')[2]}"]
        text = await run_ripgrep(host, call, argv, directory, named=args.glob or "", limit=_MAX_OUTPUT)
        prefix = folder_prefix(directory)
        files = await parsed(text, lambda: _by_file(text, prefix))
        kept = frozenset(await without_build_output(host, files, args.path, args.glob or ""))
        if not call.approved:
            # Don't even report their number: a search could guess a secret letter by letter.
            kept -= await secret_paths(host, kept, directory)
        if not (isinstance(host, SearchingHost) and await host.searches_inside()):
            files = await _only_inside(host, {path: files[path] for path in kept})
            kept = frozenset(files)
        # Each file has a match, so no others are shown.
        first = await parsed(text, lambda: nsmallest(args.max_results + 1, kept))
        lines = await _without_keys(host, [line for path in first for line in files[path]])
        counts = await parsed(text, lambda: _count_matches(files, sorted(kept)))
        return await parsed(text, lambda: _render(args, lines, counts))


def _glob_options(glob: str | None) -> list[str]:
    """A glob over names becomes a file type: as a glob it would bring back ignored files."""
    if not glob:
        return []
    name = glob.removeprefix("**/")
    if "/" in name or name.startswith("!"):
        return [f"--glob={glob}"]
    return only([name])


def _by_file(text: str, prefix: str) -> dict[str, list[_Line]]:
    """The lines of each file, in their order."""
    found: dict[str, list[_Line]] = {}
    for match in _HIT.finditer(text):
        path = prefix + match[1].removeprefix("./")
        found.setdefault(path, []).append(_Line(path, int(match[2]), match[3], match[4][: _LINE + 1]))
    return found


async def _only_inside(host: Host, files: Mapping[str, Sequence[_Line]]) -> dict[str, list[_Line]]:
    """The lines in files of the workspace: a search that follows paths may be led out by a link."""
    found: dict[str, list[_Line]] = {}
    for path, lines in files.items():
        content = await _read_lines(host, path)
        kept = [line for line in lines if _stands_in(line, content)]
        if any(line.mark == _MATCH for line in kept):
            found[path] = kept
    return found


async def _read_lines(host: Host, path: str) -> list[str]:
    try:
        data = await host.read(path, _MAX_BYTES)
    except ToolError:
        return []
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return data.decode(encoding, "replace").split("\n")


def _stands_in(line: _Line, content: list[str]) -> bool:
    there = content[line.number - 1] if line.number <= len(content) else None
    # Long lines are cut, with a note where.
    return there is not None and there[:_COMPARED].rstrip("\r") == line.text[:_COMPARED].rstrip("\r")


async def _without_keys(host: Host, lines: Sequence[_Line]) -> list[_Line]:
    """A line out of the middle of a private key is redacted too."""
    suspects = {line.path for line in lines if _KEY_TEXT.match(_line_end(line.text))}
    inside = {path: await keys_in(host, path) for path in suspects}
    return [line._replace(text=KEY_LINE) if line.number in inside.get(line.path, ()) else line for line in lines]


def _line_end(text: str) -> str:
    return text.rstrip(" \t\r\"',)+").removesuffix("\\n")[-16:]


def _count_matches(files: Mapping[str, Sequence[_Line]], paths: Sequence[str]) -> dict[str, int]:
    return {path: sum(line.mark == _MATCH for line in files[path]) for path in paths}


def _left_out(counts: Mapping[str, int], shown: int) -> str:
    """The files that hold the matches which are not shown."""
    rest: list[str] = []
    for path, count in counts.items():
        if count > shown:
            rest.append(path)
        shown = max(shown - count, 0)
    named = rest[:_FILES_NAMED]
    more = [plural(len(rest) - len(named), "more file")] if len(rest) > len(named) else []
    return f"… more matches in {', '.join([*named, *more])}; narrow the search, or raise maxResults"


def _render(args: SearchCodeArguments, lines: Sequence[_Line], counts: Mapping[str, int]) -> ToolResult:
    """Each file once, then its lines with their numbers and exact indentation; `--` where lines are left out."""
    hits: list[JsonValue] = []
    shown: list[str] = []
    before: _Line | None = None
    for found in lines:
        path, number, mark, line = found
        if mark == _MATCH:
            if len(hits) == args.max_results:
                shown.append(_left_out(counts, args.max_results))
                break
            hits.append({"path": path, "line": number, "text": line})
        if before is None or before.path != path:
            shown += ["", path] if before else [path]
        elif args.context and number > before.number + 1:
            shown.append("--")
        shown.append(f"{number}{mark}{line}" if len(line) <= _LINE else f"{number}{mark}{line[:_LINE]}… (line cut)")
        before = found
    if not hits:
        hint = "" if args.regex else " The query was searched literally; set regex for a pattern."
        hint += " Files that may hold secrets are not searched."
        where = f" in files that match {args.glob!r}" if args.glob else ""
        return ToolResult(f"No match for {args.query!r}{where}.{hint}", {"matches": []}, "no match")
    return ToolResult(
        "\n".join(shown), {"matches": hits}, f"{plural(len(hits), 'match', 'matches')} in {plural(len(counts), 'file')}"
    )
