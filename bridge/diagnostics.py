"""The answer to `get_diagnostics` from what the editor has said, for a shell that says it without being asked."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from bridge.editor_state import relative
from sidecar.wire.base import JsonObject
from sidecar.wire.bridge import Diagnostic
from tools.spec import ToolResult

TOOL = "get_diagnostics"
_SHOWN = 200


def told(found: Mapping[str, Sequence[Diagnostic]], args: JsonObject, workspace: str, shell: str) -> ToolResult:
    given = args.get("paths")
    named = [path for path in given if isinstance(path, str)] if isinstance(given, list) else []
    asked = [relative(workspace, path) or path for path in named] or [*found]
    lines: list[str] = []
    shown: list[JsonValue] = []
    errors = 0
    for path in asked:
        for each in sorted(found.get(path, ()), key=lambda each: (each.line, each.column)):
            errors += each.severity == "error"
            lines.append(f"{path}:{each.line}:{each.column} {each.severity}: {each.message}")
            shown.append(
                {
                    "path": path,
                    "line": each.line,
                    "column": each.column,
                    "severity": each.severity,
                    "message": each.message,
                    "checker": each.source or shell,
                    "new": False,
                }
            )
    unknown = [path for path in asked if path not in found]
    notes = [f"{shell} has said nothing about {', '.join(unknown[:20])}."] if unknown else []
    if len(lines) > _SHOWN:
        lines[_SHOWN:] = [f"… {len(lines) - _SHOWN} more"]
    return ToolResult(
        content="\n".join([*(lines or ["Nothing found."]), *notes, f"checked with: {shell}"]),
        details={"diagnostics": shown[:_SHOWN], "checkers": [shell], "new": 0},
        summary=f"{errors} errors, {len(shown) - errors} warnings ({shell})",
    )
