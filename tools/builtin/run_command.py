from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.base import ErrorBody, JsonObject
from sidecar.wire.text import plural
from tools.host import Host, ProcessResult
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec
from tools.text import clip

_MAX_TIMEOUT_MS = 3_600_000


class RunCommandArguments(Arguments):
    command: Annotated[
        Annotated[str, Field(min_length=1, max_length=100_000)]
        | Annotated[list[Annotated[str, Field(max_length=100_000)]], Field(min_length=1, max_length=1_000)],
        Field(description="A shell command, or a list of program and arguments."),
    ]
    cwd: Annotated[str, Field(description="A directory in the workspace.")] = "."
    timeout_ms: Annotated[int, Field(ge=1, le=_MAX_TIMEOUT_MS)] | None = None
    background: Annotated[bool, Field(description="Return at once; then use command_output and stop_command.")] = False

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
            "Everything it starts ends with it, so start servers with background: true."
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
            return ToolResult(
                content=f"Started in the background with commandId {call.id}. Use command_output and stop_command.",
                details={"commandId": call.id},
                summary="started in the background",
            )
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


def render_result(result: ProcessResult, timeout: float) -> ToolResult:
    details = process_details(result)
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
    code = result.exit_code if result.exit_code is not None else -1
    how = result.why or (f"exit code {code}" if code >= 0 else f"ended by signal {-code}")
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
