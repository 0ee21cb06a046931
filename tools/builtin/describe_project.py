import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest, nsmallest
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, JsonValue

from sidecar.wire.text import bulleted, listed, plural
from tools.code.commands import plain_command
from tools.code.files import count_lines, is_copied, list_files, matching_lines
from tools.code.folders import Folder, folder_table, main_folders, size_by_language
from tools.code.graph import Graph, import_graph, mermaid
from tools.code.languages import language_name, language_of
from tools.code.manifest import Manifest, first_paragraph, manifest, read_text
from tools.code.modules import Modules
from tools.errors import ToolError
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.test_files import is_test
from tools.test_frameworks import find_framework

_BIGGEST = 5
_ENTRIES = 10
_NEEDS = 15
_STARTED = r"^if __name__ == ['\"]__main__['\"]|^func main\(\)|^fn main\(\)|^#!/usr/bin/env (node|python)"
_STARTED_IN = ("*.py", "*.go", "*.rs", "*.js", "*.mjs", "*.ts")
_MAINS = ("__main__.py", "main.py", "app.py", "manage.py", "cli.py", "main.ts", "main.tsx", "index.ts", "server.ts")


Section = Literal["about", "size", "entries", "folders", "dependencies", "tests", "biggest", "imports"]


class DescribeProjectArguments(Arguments):
    sections: Annotated[list[Section], Field(description="Only these; all if left out.")] = Field(default_factory=list)


class Facts(NamedTuple):
    files: Sequence[str]
    lines: Mapping[str, int]
    about: Manifest
    readme: str
    graph: Graph
    started: Sequence[str]
    tests: str
    folders: Sequence[Folder]


class DescribeProject:
    spec = ToolSpec(
        name="describe_project",
        description=(
            "Describe the project: purpose, languages, folders, entry points, dependencies, tests, and a Mermaid graph "
            "of imports between folders."
        ),
        arguments=DescribeProjectArguments,
        executor="hybrid",
        timeout=60.0,
        retryable=True,
    )

    async def run(self, args: DescribeProjectArguments, host: Host, call: Call, output: Output) -> ToolResult:
        files = await list_files(host, call)
        if not files:
            return ToolResult("The workspace is empty.", {"files": 0}, "no files")
        lines = await count_lines(host, call)
        top, modules = await asyncio.to_thread(lambda: ({path for path in files if "/" not in path}, Modules(files)))
        readme = next((path for path in sorted(top) if path.lower().startswith("readme")), "")
        facts = Facts(
            files=files,
            lines=lines,
            about=await manifest(host, top),
            readme=await read_text(host, readme) if readme else "",
            graph=await import_graph(host, call, modules),
            started=[line.path for line in await matching_lines(host, call, _STARTED, _STARTED_IN)],
            tests=await _tests(host),
            folders=await main_folders(host, files, lines),
        )
        text = await asyncio.to_thread(_render, facts, host.workspace, args.sections)
        sizes, biggest, test_files = await asyncio.to_thread(
            lambda: (size_by_language(files, lines), _biggest_files(facts), _count_tests(facts))
        )
        details: dict[str, JsonValue] = {
            "files": len(files),
            "lines": sum(lines.values()),
            "biggest": [*biggest],
            "biggestLines": [lines[path] for path in biggest],
            "tests": facts.tests,
            "testFiles": test_files,
            **sizes,
        }
        return ToolResult(text, details, f"{plural(len(files), 'file')}, {plural(sum(lines.values()), 'line')}")


async def _tests(host: Host) -> str:
    try:
        return " ".join((await find_framework(host, ())).argv)
    except ToolError:
        return ""


def _languages(facts: Facts) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for path in facts.files:
        if (name := language_name(path)) is not None:
            counts[name] += facts.lines.get(path, 0)
    return counts.most_common(5)


def _render(facts: Facts, workspace: str, wanted: Sequence[Section]) -> str:
    about = facts.about
    name = about.name or workspace.rstrip("/").rpartition("/")[2]
    said = first_paragraph(facts.readme) or about.description
    version = f" {about.version}" if about.version else ""
    parts: dict[Section, str] = {}
    parts["about"] = f"**{name}**{version}{f': {said}' if said else ' (no README or description)'}"
    languages = ", ".join(f"{language} ({plural(lines, 'line')})" for language, lines in _languages(facts))
    code = sum(language_name(path) is not None for path in facts.files)
    parts["size"] = (
        f"**Size** {plural(len(facts.files), 'file')}, {code:,} of them code: {languages or 'no known language'}."
    )
    parts |= {"entries": _entries(facts), "folders": _table(facts), "dependencies": _needs(facts)}
    parts |= {"tests": _testing(facts), "biggest": _biggest(facts)}
    picture, left_out = mermaid(facts.graph)
    if picture:
        left = f" Omitted: {left_out}." if left_out else ""
        heading = f"**Imports between folders** (numbers count importing files).{left}"
        parts["imports"] = f"{heading}\n\n```mermaid\n{picture}\n```"
    shown = [text for section, text in parts.items() if text and section in wanted]
    return "\n\n".join(shown or [*filter(None, parts.values()), *about.broken])


def _entries(facts: Facts) -> str:
    about = facts.about
    found = {
        name: f"`{name}` ({target})" if " " in target else f"`{name}` → `{target}`"
        for name, target in about.entries.items()
    }
    led_to = tuple(target.partition(":")[0].replace(".", "/") + ".py" for target in about.entries.values())
    for path in facts.started:
        if not is_test(path) and not path.endswith(led_to or ("/",)):
            found.setdefault(path, f"`{path}`")
    if not found:
        for path in facts.files:
            if path.rpartition("/")[2] in _MAINS and not is_test(path) and path.count("/") <= 2:
                found[path] = f"`{path}`"
    lines = bulleted(list(found.values()), _ENTRIES)
    runs = [f"`{script}`" for script in about.scripts][:_ENTRIES]
    text = "\n".join(["**Entry points**", *lines]) if lines else ""
    return "\n\n".join(each for each in (text, f"**Commands** {', '.join(runs)}" if runs else "") if each)


def _table(facts: Facts) -> str:
    return folder_table(facts.folders) if len(facts.folders) > 1 else ""


def _needs(facts: Facts) -> str:
    lines = [
        f"**Depends on** ({source}) {listed([f'`{name}`' for name in names], _NEEDS)}."
        for source, names in facts.about.needs.items()
    ]
    if not lines and (used := facts.graph.packages().most_common(_NEEDS)):
        lines.append(f"**Imports from packages** {', '.join(f'`{name}`' for name, _ in used)}.")
    return "\n".join(lines)


def _count_tests(facts: Facts) -> int:
    return sum(is_test(path) and language_of(path) is not None for path in facts.files)


def _testing(facts: Facts) -> str:
    count = _count_tests(facts)
    if not facts.tests:
        return (
            "**Tests** none found."
            if not count
            else f"**Tests** {plural(count, 'file')}, but no command that runs them."
        )
    return f"**Tests** {plural(count, 'file')}; `{plain_command(facts.tests)}` runs them."


def _biggest_files(facts: Facts) -> list[str]:
    """The biggest files of the project's own code, without tests."""
    own = [path for path in facts.lines if language_of(path) and not is_test(path) and not is_copied(path)]
    return nsmallest(_BIGGEST, own, key=lambda path: (-facts.lines[path], path))


def _biggest(facts: Facts) -> str:
    code = [(lines, path) for path, lines in facts.lines.items() if language_of(path) is not None]
    # One sort of all would hold the interpreter, and with it the event loop, for 20 ms at 50,000 files.
    biggest = nlargest(_BIGGEST, code)
    shown = ", ".join(f"`{path}` ({lines:,})" for lines, path in biggest)
    return f"**Biggest files** (lines) {shown}" if len(code) > _BIGGEST else ""
