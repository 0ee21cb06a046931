from typing import Annotated

from pydantic import Field

from sidecar.wire.text import plural
from tools.changes import render_changes
from tools.code import python_imports, script_imports
from tools.code.codebase import Codebase
from tools.code.edits import apply_edits
from tools.code.import_edits import ImportEdits, reexported_names
from tools.code.project import Project
from tools.code.source import SourceText, family_of
from tools.errors import ToolError
from tools.host import FileChange, Host
from tools.spec import Arguments, Call, PreparedChange, ToolSpec

_LISTED = 20
#: Removing an import can leave another one unused, which the next round finds.
_ROUNDS = 3


class OrganizeImportsArguments(Arguments):
    paths_: Annotated[list[str], Field(alias="paths", max_length=500, description="Files or folders; default all.")] = (
        Field(default_factory=list)
    )
    remove: Annotated[bool, Field(description="Remove unused imports.")] = True
    sort: bool = True

    def paths(self) -> tuple[str, ...]:
        return tuple(self.paths_) or (".",)


class OrganizeImports:
    spec = ToolSpec(
        name="organize_imports",
        description="Remove unused imports and sort the others, in Python, TypeScript and JavaScript files.",
        arguments=OrganizeImportsArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: OrganizeImportsArguments, host: Host, call: Call) -> PreparedChange:
        places = args.paths_
        for place in places:
            if (await host.stat(place)).kind == "file" and family_of(place) is None:
                raise ToolError(f"{place} is not a Python, TypeScript or JavaScript file.", code="unknown_language")
        base = await Codebase.listed(host, call, [place for place in places if family_of(place)])
        targets = base.under(places)
        await base.read(targets)
        if args.remove and places:
            # Other files may import from here what is unused here.
            await base.read_with_words(sorted({name for path in targets for name in _unused(base.project, path)}))
        done = await base.ask(lambda project: _tidy_all(project, targets, args))
        changes = tuple(
            FileChange(path, base.contents[path], content)
            for path, (content, _) in sorted(done.items())
            if content != base.contents[path]
        )
        note = _note(changes, done, base, targets)
        return PreparedChange(changes, render_changes(changes, f"{note}\n")._replace(summary=note.partition("\n")[0]))


def _unused(project: Project, path: str) -> set[str]:
    file = project.files.get(path)
    if file is None:
        return set()
    return set((python_imports if file.source.family == "python" else script_imports).unused_imports(file))


def _tidy_all(
    project: Project, targets: list[str], args: OrganizeImportsArguments
) -> dict[str, tuple[bytes, ImportEdits]]:
    return {path: _tidy(project, path, args) for path in targets if path in project.files}


def _tidy(project: Project, path: str, args: OrganizeImportsArguments) -> tuple[bytes, ImportEdits]:
    source = project.files[path].source
    content, whole = source.bom + source.text, ImportEdits()
    alone = Project(project.modules)
    kept: set[str] = set()
    for number in range(_ROUNDS if args.remove else 0):
        alone.add(SourceText(path, content))
        gone = _unused(alone, path)
        if number == 0:
            kept = reexported_names(path, gone, project)
        if not gone - kept:
            break
        step = _step(alone, path, gone - kept, sort=False)
        whole.removed += step.removed
        content = source.bom + apply_edits(alone.files[path].source.text, step.edits)
    whole.kept = sorted(kept)
    if args.sort:
        alone.add(SourceText(path, content))
        if path in alone.files:
            step = _step(alone, path, set(), sort=True)
            content = source.bom + apply_edits(alone.files[path].source.text, step.edits)
    return content, whole


def _step(project: Project, path: str, gone: set[str], *, sort: bool) -> ImportEdits:
    file = project.files[path]
    if file.source.family == "script":
        return script_imports.plan_edits(file, gone, sort=sort)

    def first_party(name: str) -> bool:
        return project.modules.package(name, path) is not None

    return python_imports.plan_edits(file, gone, first_party if sort else None)


def _note(
    changes: tuple[FileChange, ...], done: dict[str, tuple[bytes, ImportEdits]], base: Codebase, targets: list[str]
) -> str:
    removed = [f"{path}: {', '.join(each.removed)}" for path, (_, each) in sorted(done.items()) if each.removed]
    count = sum(len(each.removed) for _, each in done.values())
    where = plural(len(changes), "file")
    first = (
        f"Organized the imports of {where}." if changes else f"The imports of {plural(len(done), 'file')} are in order."
    )
    if count:
        first = f"Removed {plural(count, 'unused import')}; {where} changed."
    kept = [
        f"{path}: {', '.join(each.kept)}, which other files import from there"
        for path, (_, each) in done.items()
        if each.kept
    ]
    broken = [f"{path}, {why}" for path, why in sorted(base.project.skipped.items()) if path in targets]
    return "\n".join(
        [
            first,
            *(f"- {line}" for line in removed[:_LISTED]),
            *([f"- … and in {plural(len(removed) - _LISTED, 'more file')}"] if len(removed) > _LISTED else []),
            *(f"Kept: {line}." for line in kept[:_LISTED]),
            *(f"Left alone: {line}." for line in broken[:_LISTED]),
        ]
    )
