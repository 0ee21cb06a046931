from pydantic import JsonValue

from sidecar.wire.text import plural
from tools.host import FileInfo, Host
from tools.skipped import is_skipped
from tools.spec import Arguments, Call, Output, ResultSource, ToolResult, ToolSpec

_SHOWN = 1_000


class ListDirArguments(Arguments):
    path: str = "."


class ListDir:
    spec = ToolSpec(
        name="list_dir",
        description="List a directory. Names of directories end with /, of links with @.",
        arguments=ListDirArguments,
        brief="List a directory.",
        executor="hybrid",
        retryable=True,
        cache="tree",
    )

    async def run(self, args: ListDirArguments, host: Host, call: Call, output: Output) -> ToolResult:
        before = await host.stat(args.path)
        entries = await host.list(args.path)
        suffixes = {"directory": "/", "symlink": "@", "file": "", "other": "?"}
        names = [entry.path.rpartition("/")[2] + suffixes[entry.kind] for entry in entries]
        lines = names[:_SHOWN]
        if len(names) > _SHOWN:
            lines.append(f"… {len(names) - _SHOWN} more; use find_files with a pattern")
        details: list[JsonValue] = [_entry(entry, args.path) for entry in entries[:_SHOWN]]
        return ToolResult(
            content="\n".join(lines) or "(empty)",
            details={"entries": details},
            summary=f"{plural(len(entries), 'entry', 'entries')} in {args.path}",
            sources=(ResultSource(before),),
        )


def _entry(info: FileInfo, folder: str) -> JsonValue:
    """`generated` marks what is installed or built; it isn't suggested."""
    skipped = is_skipped(f"{info.path}/" if info.kind == "directory" else info.path, below=folder)
    return {"path": info.path, "kind": info.kind, **({"generated": True} if skipped else {})}
