from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.base import ErrorBody
from sidecar.wire.text import listed
from tools.builtin.run_command import process_details
from tools.code.files import list_files
from tools.errors import InvalidArguments, ToolError
from tools.host import Host, ProcessResult
from tools.paths import as_argument
from tools.spec import Arguments, Call, Output, PlannedCommand, ToolResult, ToolSpec
from tools.test_frameworks import (
    Framework,
    choose_runner,
    find_framework,
    find_missing,
    is_test_of,
    other_runners,
    with_pytest,
)
from tools.test_report import SuiteReport, parse_report, render_failures

#: Characters of output that are read for failures.
_READ = 4 * 1024 * 1024
_NAMED = 5
#: The exit code of a shell that finds no such program.
_NOT_FOUND = 127


_Target = Annotated[str, Field(max_length=4_096)]


class RunTestsArguments(Arguments):
    target: Annotated[
        _Target | Annotated[list[_Target], Field(max_length=200)] | None,
        Field(description="A file, directory or test name, or several."),
    ] = None

    @property
    def targets(self) -> list[str]:
        return [self.target] if isinstance(self.target, str) else self.target or []

    def paths(self) -> tuple[str, ...]:
        return (".",)


class RunTests:
    spec = ToolSpec(
        name="run_tests",
        description=(
            "Run the project's tests, all or those of target. Finds the framework (pytest, unittest, npm with vitest "
            "or jest, go, cargo, make). Returns counts and, for each distinct error, the tests that fail with it and "
            "one traceback."
        ),
        arguments=RunTestsArguments,
        brief="Run the project's tests, or those of target (file, directory, test name).",
        executor="hybrid",
        timeout=600.0,
        parallel=False,
        effects="command",
        repeatable=True,
        runs_project=True,
    )

    async def plan(self, args: RunTestsArguments, host: Host, call: Call) -> list[PlannedCommand]:
        targets = [await _check_target(target, host) for target in args.targets]
        framework = await find_framework(host, targets)
        others = await other_runners(framework, host, targets)
        return [PlannedCommand(tuple(each.argv), each.folder) for each in (framework, *others)]

    async def run(self, args: RunTestsArguments, host: Host, call: Call, output: Output) -> ToolResult:
        targets = [await _check_target(target, host) for target in args.targets]
        framework = await choose_runner(await find_framework(host, targets), host, call.id)
        result, found, said = await _run(framework, host, call, output)
        if found.empty and not targets and (other := await with_pytest(framework, host, call.id)):
            framework = other
            result, found, said = await _run(framework, host, call, output)
        if framework.name == "npm" and result.exit_code == _NOT_FOUND and not found.known:
            # A script that begins with another package manager or a linter, which isn't installed.
            for other in await other_runners(framework, host, targets):
                framework = other
                result, found, said = await _run(framework, host, call, output)
        if result.exit_code and not found.passed and (why := await find_missing(framework, host, result.output)):
            raise ToolError(why, code="packages_missing")
        failures: list[JsonValue] = [{"name": each.name, "message": each.message} for each in found.failures]
        details: dict[str, JsonValue] = {
            **process_details(result),
            "framework": framework.name,
            "command": " ".join(framework.argv),
            "passed": found.passed,
            "failed": found.failed,
            "skipped": found.skipped,
            "counted": found.known,
            "failures": failures,
        }
        head = f"{framework.name}: {found.summary}"
        if result.timed_out:
            message = f"The tests took longer than {call.timeout:g} s and were stopped. Pass a smaller target."
            error = ErrorBody(code="timed_out", message=message)
            content = "\n".join([head, message, render_failures(found, said)])
            return ToolResult(content, details, "timed out", error)
        if found.empty and (files := await _test_files(framework, targets, host, call)):
            message = f"No test ran, although there are test files: {listed(files, _NAMED)}."
            error = ErrorBody(code="no_tests_ran", message=message)
            content = "\n".join([message, "", render_failures(found, said)])
            return ToolResult(content, details, "no test ran", error)
        if result.exit_code == 0:
            return ToolResult(head, details, found.summary)
        message = f"{found.summary} (exit code {result.exit_code})"
        if not found.known:
            message = f"`{' '.join(framework.argv)}` failed (exit code {result.exit_code}); the output counts no tests"
            head = f"{message}:"
        error = ErrorBody(code="tests_failed", message=message)
        return ToolResult(f"{head}\n{render_failures(found, said)}", details, found.summary, error)


async def _run(framework: Framework, host: Host, call: Call, output: Output) -> tuple[ProcessResult, SuiteReport, str]:
    """The end of the run, its report, and what the tests printed: all of it, where the result keeps head and tail."""
    call.check_command(framework.argv, framework.folder)
    parts: list[str] = []
    room = _READ

    def collect(stream: str, text: str) -> None:
        nonlocal room
        room -= len(text)
        if room > 0:
            parts.append(text)
        output(stream, text)

    result = await host.run(
        framework.argv,
        call_id=call.id,
        cwd=framework.folder,
        timeout=call.timeout,
        output=collect,
        environment={**call.environment, "CI": "1"},
        killed=call.killed,
    )
    said = "".join(parts) if room > 0 and parts else result.output
    return result, parse_report(framework.name, said, result.exit_code), said


async def _test_files(framework: Framework, targets: Sequence[str], host: Host, call: Call) -> list[str]:
    """The test files of the project, or those that were wanted."""
    listed = await list_files(host, call, framework.folder)
    files = [path for path in listed if is_test_of(framework.name, path)]
    wanted = [target.partition("::")[0].rstrip("/") for target in targets]
    return [path for path in files if not wanted or any(f"{path}/".startswith(f"{each}/") for each in wanted)]


async def _check_target(target: str, host: Host) -> str:
    """A target that looks like an option must be a file or folder of that name."""
    named = as_argument(target)
    if named != target:
        try:
            await host.stat(named.partition("::")[0])
        except ToolError:
            why = f"{target} is neither a file or directory of the project nor the name of a test."
            raise InvalidArguments(why) from None
    return named
