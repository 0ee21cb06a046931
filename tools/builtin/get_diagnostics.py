from collections import OrderedDict
from collections.abc import Collection, Set
from typing import Annotated, NamedTuple

from pydantic import Field, JsonValue

from sidecar.wire.text import plural
from tools.code.diagnostics import CheckerFinding, plan_checkers, run_checkers
from tools.host import Host
from tools.spec import Arguments, Call, Output, PlannedCommand, ToolResult, ToolSpec

_SHOWN = 100
_REMEMBERED = 32


class _Known(NamedTuple):
    """Findings without their places, which move, and the paths that were checked."""

    found: Set[CheckerFinding] = frozenset()
    checked: Set[str] = frozenset()


_NOTHING = _Known()


class GetDiagnosticsArguments(Arguments):
    paths_: Annotated[list[str], Field(alias="paths", max_length=200)] = []

    def paths(self) -> tuple[str, ...]:
        return tuple(self.paths_) or (".",)


class GetDiagnostics:
    spec = ToolSpec(
        name="get_diagnostics",
        description=(
            "List errors and warnings from the editor, or else from the project's checkers (ruff, mypy, pyright "
            "or ty, tsc, eslint), for some paths or all. New ones since the last call are marked and come first."
        ),
        arguments=GetDiagnosticsArguments,
        executor="hybrid",
        timeout=120.0,
        retryable=True,
        cache="diagnostics",
        runs_project=True,
    )

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def plan(self, args: GetDiagnosticsArguments, host: Host, call: Call) -> list[PlannedCommand]:
        return await plan_checkers(args.paths_, host, call)

    async def run(self, args: GetDiagnosticsArguments, host: Host, call: Call, output: Output) -> ToolResult:
        found = await run_checkers(args.paths_, host, call)
        before = self._known.pop(host.workspace, _NOTHING)
        asked = set(args.paths())
        now = {each._replace(line=0, column=0) for each in found.diagnostics}
        # Keep what is known of files that were not checked this time, and from checkers that failed.
        rest = {each for each in before.found if not _within(each.path, asked) or each.checker not in found.checkers}
        self._known[host.workspace] = _Known(now | rest, before.checked | asked)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        shown = [(each, _is_new(each, before)) for each in found.diagnostics]
        # What the last edit broke comes first, then errors.
        shown.sort(key=lambda each: (not each[1], each[0].severity != "error"))
        lines = [_render(*each) for each in shown[:_SHOWN]]
        lines += [f"… {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
        lines = lines or ["No problems found."]
        checkers = ", ".join(found.checkers) or "none"
        errors = sum(each.severity == "error" for each in found.diagnostics)
        warnings = plural(len(found.diagnostics) - errors, "warning")
        listed: list[JsonValue] = [{**each._asdict(), "new": new} for each, new in shown[:_SHOWN]]
        return ToolResult(
            content="\n".join([*lines, *found.failed, f"checked with: {checkers}"]),
            details={
                "diagnostics": listed,
                "checkers": [*found.checkers],
                "new": sum(new for _, new in shown),
                "failed": [*found.failed],
            },
            summary=f"{plural(errors, 'error')}, {warnings} ({checkers})",
            sources=found.sources,
        )


def _is_new(each: CheckerFinding, before: _Known) -> bool:
    """That is unknown for a file that was not checked before."""
    return _within(each.path, before.checked) and each._replace(line=0, column=0) not in before.found


def _within(path: str, places: Collection[str]) -> bool:
    return any(place in (path, ".") or path.startswith(f"{place.rstrip('/')}/") for place in places)


def _render(each: CheckerFinding, new: bool) -> str:
    return f"{'NEW ' if new else ''}{each.path}:{each.line}:{each.column} {each.severity}: {each.message}"
