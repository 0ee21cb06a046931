import posixpath
import re
from typing import Annotated, NamedTuple

from pydantic import Field

from tools.builtin.existing import existing
from tools.builtin.test_places import is_test, python_framework, python_place, script_framework, script_place
from tools.changes import told
from tools.code.codebase import Codebase
from tools.code.dialect import PythonDialect, ScriptDialect, habits, specifier
from tools.code.edits import newline_of
from tools.code.project import Project, exported
from tools.code.scopes import FileScopes
from tools.code.signatures import Definition, definitions
from tools.code.source_file import source_of
from tools.code.test_skeletons import PythonFramework, python_claim, python_test, script_test
from tools.errors import FileExists, NoMatch, ToolError
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec


class AddTestArguments(Arguments):
    symbol: Annotated[str, Field(min_length=1, max_length=200, description="name or Class.method")]
    path: Annotated[str, Field(description="Where it is defined.")] | None = None
    call: Annotated[bool, Field(description="Call it with made-up arguments where it is evidently harmless.")] = True
    replace: Annotated[bool, Field(description="Instead of the test that this tool wrote before.")] = False

    def paths(self) -> tuple[str, ...]:
        return (".",)


class AddTest:
    spec = ToolSpec(
        name="add_test",
        description=(
            "Add a first test of a function or class to the project's tests, runnable, claiming only what is certain "
            "(pytest, unittest, vitest, jest, node:test). Better it where you know what should come out."
        ),
        arguments=AddTestArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: AddTestArguments, host: Host, call: Call) -> PreparedChange:
        also = [args.path] if args.path and (await host.stat(args.path)).kind == "file" else []
        base = await Codebase.holding([args.symbol.rpartition(".")[2]], host, call, also)
        file, each = _found(base.project, args.symbol, args.path)
        write = _python if file.source.family == "python" else _script
        written = await write(file, each, base, host, args)
        changes = (FileChange(written.path, written.before, written.after),)
        note = (
            f"Added a test of {each.full_name} ({file.path}:{each.line}) to {written.path}; it asserts {written.said}."
        )
        return PreparedChange(changes, told(changes, f"{note}\n")._replace(summary=note[:200]))


class _Written(NamedTuple):
    path: str
    before: bytes | None
    after: bytes
    said: str


def _found(project: Project, symbol: str, path: str | None) -> tuple[FileScopes, Definition]:
    hits = [
        (file, each)
        for name, file in sorted(project.files.items())
        if (path in (None, ".") and not is_test(name)) or name == path or name.startswith(f"{path}/")
        for each in definitions(file.source)
        if symbol in (each.name, each.full_name)
    ]
    top = [hit for hit in hits if not hit[1].owner]
    hits = top if "." not in symbol and top else hits
    if not hits:
        broken = "".join(f" {name} was not looked at: {why}." for name, why in sorted(project.left_alone.items())[:3])
        raise NoMatch(
            f"No function or class is named {symbol}{f' in {path}' if path else ''}; nothing was changed.{broken}"
        )
    if len(hits) > 1:
        lines = "\n".join(f"- {file.path}:{each.line} {each.kind} {each.full_name}" for file, each in hits[:12])
        raise ToolError(f"{len(hits)} things are named {symbol}. Say in which file:\n{lines}", code="ambiguous")
    return hits[0]


async def _python(file: FileScopes, each: Definition, base: Codebase, host: Host, args: AddTestArguments) -> _Written:
    modules = base.project.modules
    place = python_place(file.path, modules.paths)
    framework = await python_framework(place, modules.paths, host)
    claim = python_claim(each, call=args.call)
    before = await existing(host, place)
    text = before or b""
    if before is not None:
        source_of(place, before)
    newline = newline_of(text) if text else b"\n"
    word = claim.name.removeprefix("test_")
    text = _without_earlier(text, each, framework) if args.replace else text
    if re.search(rb"def " + re.escape(claim.name).encode() + rb"\(", text):
        raise FileExists(f"{place} has a test {word!r} already; nothing was changed.")
    imported = each.full_name.partition(".")[0]
    lines = ["import inspect"] if claim.inspects or "inspect." in " ".join(claim.lines) else []
    lines += ["import unittest"] if framework == "unittest" else []
    lines = [line for line in lines if line.encode() not in text.splitlines()]
    own = f"from {modules.python_name(file.path)} import {imported}"
    test = python_test(claim, framework, newline.decode()).encode()
    if not text.strip():
        head = newline.join(line.encode() for line in lines)
        after = (head + newline * 2 if head else b"") + own.encode() + newline * 3 + test + newline
    else:
        has = re.search(rb"^from \S+ import .*\b" + re.escape(imported).encode() + rb"\b", text, re.MULTILINE)
        after = _before_main(text, test, newline)
        after = PythonDialect().with_imports(after, [*lines, *([] if has else [own])], place)
    source_of(place, after)
    return _Written(place, before, after, claim.said)


def _without_earlier(text: bytes, each: Definition, framework: PythonFramework) -> bytes:
    """Without the test of this function that was written with made-up arguments."""
    claim = python_claim(each, call=True)
    whole = python_test(claim, framework, newline_of(text).decode()).encode()
    return text.replace(whole, b"").rstrip() + newline_of(text) if whole in text else text


def _before_main(text: bytes, test: bytes, newline: bytes) -> bytes:
    main = re.search(rb"^if __name__ == ", text, re.MULTILINE)
    if main is None:
        return text.rstrip() + newline * 3 + test + newline
    return text[: main.start()].rstrip() + newline * 3 + test + newline * 3 + text[main.start() :]


async def _script(file: FileScopes, each: Definition, base: Codebase, host: Host, args: AddTestArguments) -> _Written:
    if each.owner:
        raise ToolError(f"{each.full_name} is a method; ask for a test of {each.owner}.", code="not_possible")
    text = file.source.text
    common = b"module.exports" in text or re.search(rb"^exports\.", text, re.MULTILINE) is not None
    export = exported(file, each.name)
    default = any(one.name == "default" and one.local == each.name for one in file.exports)
    if not common and export is None and not default:
        raise ToolError(
            f"{each.name} ({file.path}:{each.line}) is not exported, so that no test can import it. Export it first; "
            "nothing was changed.",
            code="not_possible",
        )
    framework = await script_framework(file.path, host)
    place = script_place(file.path, base.project.modules.paths)
    quote, end, written = habits(base.project, file.path)
    test, said = script_test(each, framework, quote, end, call=args.call)
    before = await existing(host, place)
    old = before or b""
    if args.replace:
        earlier, _ = script_test(each, framework, quote, end, call=True)
        old = old.replace(earlier.encode(), b"").rstrip() + b"\n" if earlier.encode() in old else old
    title = test.partition("(")[2].partition(",")[0]
    if title.encode() in old:
        raise FileExists(f"{place} has a test {title} already; nothing was changed.")
    name = _specified(place, file.path, framework, written)
    what = each.name if default and export is None else f"{{ {each.name} }}"
    lines = _framework_lines(framework, quote, end, common=common)
    own = (
        f"const {what} = require({quote}{name}{quote}){end}"
        if common
        else f"import {what} from {quote}{name}{quote}{end}"
    )
    if not old.strip():
        after = "\n".join([*lines, own, "", test, ""]).encode()
    else:
        newline = newline_of(old)
        missing = [line for line in lines if not _has(line, old)]
        has = re.search(rb"\b" + re.escape(each.name).encode() + rb"\b[^\n]*(from|require)", old)
        after = old.rstrip() + newline * 2 + test.encode().replace(b"\n", newline) + newline
        after = ScriptDialect().with_imports(after, [*missing, *([] if has else [own])], place)
    source_of(place, after)
    return _Written(place, before, after, said)


def _framework_lines(framework: str, quote: str, end: str, *, common: bool) -> list[str]:
    if framework == "vitest":
        return [f"import {{ expect, test }} from {quote}vitest{quote}{end}"]
    if framework == "node" and common:
        return [
            f"const assert = require({quote}node:assert/strict{quote}){end}",
            f"const {{ test }} = require({quote}node:test{quote}){end}",
        ]
    if framework == "node":
        return [
            f"import assert from {quote}node:assert/strict{quote}{end}",
            f"import {{ test }} from {quote}node:test{quote}{end}",
        ]
    return []


def _has(line: str, text: bytes) -> bool:
    """Whether a file takes from this module already what the line would."""
    module = re.search(r"[\"']([^\"']+)[\"']", line)
    names = set(re.findall(r"\b(expect|test|assert)\b", line.partition("from")[0].partition("require")[0]))
    if module is None:
        return True
    for found in re.findall(rb"^(?:import|const)\b[^\n]*" + re.escape(module[1]).encode(), text, re.MULTILINE):
        if names <= set(re.findall(r"\w+", found.decode())):
            return True
    return False


def _specified(place: str, source: str, framework: str, written: str) -> str:
    if framework == "node":
        path = posixpath.relpath(source, posixpath.dirname(place) or ".")
        return path if path.startswith(".") else f"./{path}"
    return specifier(place, source, written if written.startswith(".") else "./")
