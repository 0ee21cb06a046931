from typing import Annotated

from pydantic import Field

from tools.changes import render_changes
from tools.errors import FileExists, NoMatch
from tools.host import FileChange, Host
from tools.patch import FilePatch, apply_hunks, parse_patch
from tools.paths import normalize
from tools.spec import Arguments, Call, PreparedChange, ToolSpec
from tools.text_files import TextFile, encode_text, read_existing, read_required


class ApplyPatchArguments(Arguments):
    patch: Annotated[str, Field(min_length=1, description="A unified diff of one or more files.")]

    def paths(self) -> tuple[str, ...]:
        try:
            files = parse_patch(self.patch)
        except NoMatch:
            return ()
        return tuple(dict.fromkeys(name for file in files for name in (file.source, file.target) if name))


class ApplyPatch:
    spec = ToolSpec(
        name="apply_patch",
        description=(
            "Apply a unified diff to one or more files, all or nothing. --- /dev/null creates a file, +++ /dev/null "
            "deletes one."
        ),
        arguments=ApplyPatchArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: ApplyPatchArguments, host: Host, call: Call) -> PreparedChange:
        changes: list[FileChange] = []
        for file in parse_patch(args.patch):
            file.source, file.target = (name and normalize(name, host.workspace) for name in (file.source, file.target))
            changes += await _changes(file, host)
        paths = [change.path for change in changes]
        if twice := next((path for path in paths if paths.count(path) > 1), None):
            raise NoMatch(f"{twice} appears twice in the patch.", advice="Put its hunks under one file header.")
        return PreparedChange(tuple(changes), render_changes(changes, written=True))


async def _changes(file: FilePatch, host: Host) -> list[FileChange]:
    if file.source is None:
        if await read_existing(host, file.path) is not None:
            raise FileExists(
                f"The patch creates {file.path}, which already exists.", advice="Patch the existing file instead."
            )
        return [FileChange(file.path, None, encode_text(apply_hunks("", file)))]
    before = await read_required(host, file.source)
    text = TextFile.decode(before, file.source)
    after = text.encode(apply_hunks(text.text, file), file.path)
    mode = (await host.stat(file.source)).mode
    if file.target is None:
        return [FileChange(file.source, before, None, mode)]
    if file.target == file.source:
        return [FileChange(file.source, before, after)]
    if await read_existing(host, file.target) is not None:
        raise FileExists(f"The patch renames {file.source} to {file.target}, which already exists.")
    return [FileChange(file.target, None, after, mode), FileChange(file.source, before, None, mode)]
