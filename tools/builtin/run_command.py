import asyncio
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.base import ErrorBody, JsonObject
from sidecar.wire.text import plural
from tools.host import Host, ProcessResult
from tools.shield import run_to_completion
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.text import clip

_MAX_TIMEOUT_MS = 3_600_000
#: How long to wait for what a command in the background says first, or for its early end.
_FIRST_SECONDS = 1.0
_ISOLATED = (
    "No other command reaches its ports: each has a network of its own. To try a server, start it and ask it in one "
    "command, with `&`."
)


class RunCommandArguments(Arguments):
    command: Annotated[
        Annotated[str, Field(min_length=1, max_length=100_000)]
        | Annotated[list[Annotated[str, Field(max_length=100_000)]], Field(min_length=1, max_length=1_000)],
        Field(description="A shell command, or a list of program and arguments."),
    ]
    cwd: Annotated[str, Field(description="A directory in the workspace.")] = "."
    timeout_ms: Annotated[int, Field(ge=1, le=_MAX_TIMEOUT_MS)] | None = None
    background: Annotated[
        bool, Field(description="Return after a second; then use command_output and stop_command.")
    ] = False

    def time_limit(self, default: float) -> float:
        return default if self.timeout_ms is None else self.timeout_ms / 1000

    @property
    def argv(self) -> list[str]:
        return ["/bin/sh", "-c", self.command] if isinstance(self.command, str) else self.command


class RunCommand:
    spec = ToolSpec(
        name="run_command",
        description=(
            "Run a command in the workspace, without stdin, in a fresh environment: `cd` and `export` don't last. "
            "Everything it starts ends with it, unless background is set."
        ),
        arguments=RunCommandArguments,
        brief=(
            "Run a shell command, or a list of program and arguments. cd and export don't last; what it starts ends "
            "with it, unless background is set."
        ),
        executor="hybrid",
        timeout=120.0,
        parallel=False,
        effects="command",
    )

    async def run(self, args: RunCommandArguments, host: Host, call: Call, output: Output) -> ToolResult:
        if args.background:
            await host.start(args.argv, call_id=call.id, cwd=args.cwd, environment=call.environment)
            begun = await _first_output(host, call)
            if begun.running:
                return _render_start(begun, call.id)
            return render_result(await host.stop(call.id), 0, _background_details(call.id, running=False))
        result = await host.run(
            args.argv,
            call_id=call.id,
            cwd=args.cwd,
            timeout=call.timeout,
            output=output,
            environment=call.environment,
            killed=call.killed,
        )
        return render_result(result, call.timeout)


async def _first_output(host: Host, call: Call) -> ProcessResult:
    try:
        return await host.poll(call.id, _FIRST_SECONDS)
    except asyncio.CancelledError:
        # No caller learns of the command any more, so nothing else would end it.
        stopped = await run_to_completion(host.stop(call.id))
        for each in stopped.killed:
            call.killed(each.pid, each.command)
        raise


def _render_start(begun: ProcessResult, command_id: str) -> ToolResult:
    lines = [
        begun.output.rstrip("\n"),
        f"It runs in the background with commandId {command_id}. Use command_output (waitMs waits for its end) and "
        "stop_command.",
        _ISOLATED if begun.isolated else "",
    ]
    details: JsonObject = {**_background_details(command_id, running=True), "output": clip(begun.output)}
    return ToolResult("\n".join(filter(None, lines)), details, "started in the background")


def _background_details(command_id: str, *, running: bool) -> JsonObject:
    return {"commandId": command_id, "running": running}


def render_result(result: ProcessResult, timeout: float, more: JsonObject | None = None) -> ToolResult:
    details: JsonObject = {**process_details(result), **(more or {})}
    text = result.output.rstrip("\n")
    if result.timed_out:
        message = f"It took longer than {timeout:g} s and was stopped. Raise timeoutMs, or set background: true."
        error = ErrorBody(code="timed_out", message=message)
        return ToolResult(f"{text}\n{message}".lstrip("\n"), details, f"stopped after {timeout:g} s", error)
    left = (
        f"\n{plural(len(result.killed), 'process', 'processes')} that it left running were stopped."
        if result.killed
        else ""
    )
    if result.exit_code == 0:
        return ToolResult((text or "(no output)") + left, details, "exit code 0")
    how = result.ending
    return ToolResult(
        f"{text}\n({how}){left}".lstrip("\n"), details, how, ErrorBody(code="command_failed", message=how)
    )


def process_details(result: ProcessResult) -> JsonObject:
    details: JsonObject = {"exitCode": result.exit_code, "timedOut": result.timed_out}
    details["durationMs"] = round(result.duration_ms, 1)
    # The live output, for readers that come later.
    details["output"] = clip(result.output)
    if result.log:
        details["log"] = result.log
    if result.killed:
        killed: list[JsonValue] = [{"pid": each.pid, "command": each.command} for each in result.killed]
        details["killed"] = killed
    return details
