from collections import OrderedDict
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import plural
from tools.code.diagnostics import CheckerFinding, plan_checkers, run_checkers
from tools.host import Host
from tools.spec import Arguments, Call, Output, PlannedCommand, ToolResult, ToolSpec

_SHOWN = 200
_REMEMBERED = 32


class GetDiagnosticsArguments(Arguments):
    paths_: Annotated[list[str], Field(alias="paths", max_length=200)] = []

    def paths(self) -> tuple[str, ...]:
        return tuple(self.paths_) or (".",)


class GetDiagnostics:
    spec = ToolSpec(
        name="get_diagnostics",
        description=(
            "List errors and warnings from the editor, or else from the project's checkers (ruff, mypy or pyright, "
            "tsc, eslint), for some paths or all. New ones since the last call are marked."
        ),
        arguments=GetDiagnosticsArguments,
        executor="hybrid",
        timeout=120.0,
        retryable=True,
        cache="diagnostics",
        runs_project=True,
    )

    def __init__(self) -> None:
        self._known: OrderedDict[str, set[CheckerFinding]] = OrderedDict()

    async def plan(self, args: GetDiagnosticsArguments, host: Host, call: Call) -> list[PlannedCommand]:
        return await plan_checkers(args.paths_, host, call)

    async def run(self, args: GetDiagnosticsArguments, host: Host, call: Call, output: Output) -> ToolResult:
        found = await run_checkers(args.paths_, host, call)
        before = self._known.pop(host.workspace, None)
        asked = set(args.paths_)
        now = {each._replace(line=0, column=0) for each in found.diagnostics}
        # Keep what is known about files that were not checked this time.
        rest = {each for each in before or () if asked and each.path not in asked}
        self._known[host.workspace] = now | rest
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        lines: list[str] = []
        shown: list[JsonValue] = []
        fresh = 0
        for each in found.diagnostics:
            new = before is not None and each._replace(line=0, column=0) not in before
            fresh += new
            lines.append(
                f"{'NEW ' if new else ''}{each.path}:{each.line}:{each.column} {each.severity}: {each.message}"
            )
            shown.append({**each._asdict(), "new": new})
        checkers = ", ".join(found.checkers) or "none"
        errors = sum(each.severity == "error" for each in found.diagnostics)
        warnings = plural(len(found.diagnostics) - errors, "warning")
        summary = f"{plural(errors, 'error')}, {warnings} ({checkers})"
        if len(lines) > _SHOWN:
            lines[_SHOWN:] = [f"… {len(lines) - _SHOWN} more"]
        return ToolResult(
            content="\n".join([*(lines or ["No problems found."]), f"checked with: {checkers}"]),
            details={"diagnostics": shown[:_SHOWN], "checkers": [*found.checkers], "new": fresh},
            summary=summary,
            sources=found.sources,
        )
