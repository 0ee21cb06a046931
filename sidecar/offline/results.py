"""Reads tool results by their details, and cuts the output of programs to the lines that matter."""

import re
from collections.abc import Sequence

from sidecar.models.port import ToolReturn
from sidecar.wire.base import JsonObject
from sidecar.wire.text import plural

_MATTERS = re.compile(
    r"\b(error|failed|failure|fatal|exception|traceback|panic|cannot|can't|not found|denied|undefined|unexpected)\b|"
    r"^E\s|✖|✗|×|^\S+:\d+(:\d+)?[: ]",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NOT_INSTALLED = re.compile(r"No module named|: (?:command )?not found|ENOENT|missing script", re.IGNORECASE)
#: Longer lines are written by programs.
LONGEST = 300
_SHOWN = 40
_TAIL = 12


def is_declined(back: ToolReturn) -> bool:
    """Whether you declined the call: an answer, not a failure."""
    return back.details.get("declined") is True


def failure(back: ToolReturn) -> str:
    """Why a call failed, without the advice for language models."""
    return (back.message or back.content.removesuffix(back.advice or "")).strip()


def records(back: ToolReturn, name: str) -> list[JsonObject]:
    """The list of objects in the details under this name."""
    found = back.details.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def strings(back: ToolReturn, name: str) -> list[str]:
    found = back.details.get(name)
    return [str(each) for each in found] if isinstance(found, list) else []


def output_of(back: ToolReturn) -> str:
    """What the program printed."""
    return _COLOUR.sub("", str(back.details.get("output", ""))).strip("\n")


def did_run(back: ToolReturn) -> bool:
    """Whether the command ran to its end, well or not."""
    return back.status == "success" or back.code == "command_failed"


def may_have_run(back: ToolReturn) -> bool:
    """Whether a crash interrupted the call, and you chose not to run it again."""
    return back.status == "unknown"


def is_not_installed(back: ToolReturn) -> bool:
    return back.details.get("exitCode") == 127 or _NOT_INSTALLED.search(output_of(back)) is not None


def format_place(record: JsonObject) -> str:
    """`path:line`, or the path alone."""
    return f"{record['path']}:{record['line']}" if record.get("line") else str(record["path"])


def quote_names(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(f"`{name}`" for name in names[:most])


def shorten_output(back: ToolReturn) -> str:
    """What the program printed; of a long output the lines that report a problem, and the last ones."""
    output = output_of(back)
    lines = output.splitlines()
    if len(lines) <= _SHOWN:
        return output
    first = [line for line in lines[:-_TAIL] if _MATTERS.search(line)][: _SHOWN - _TAIL]
    left = len(lines) - len(first) - _TAIL
    # Of an output that went to a log, the details hold only the beginning and the end.
    more = "more than " if "log" in back.details else ""
    return "\n".join([*first, f"… {more}{plural(left, 'line')} left out …", *lines[-_TAIL:]])


def describe_run(command: str, back: ToolReturn) -> str:
    """How a command went, with its output."""
    output = shorten_output(back)
    block = f":\n\n```\n{output}\n```" if output else " and printed nothing."
    if back.status == "success":
        return f"`{command}` ran{block}"
    if back.code == "command_failed":
        hint = "\n\nIt isn't installed here; try “install the dependencies”." if is_not_installed(back) else ""
        return f"`{command}` failed ({back.message}){block}{hint}"
    if back.status == "cancelled":
        # It may have had effects, so it doesn't run twice unasked.
        return f"`{command}` was stopped before it ended. Ask for it again if you want it to run again."
    if may_have_run(back):
        return f"`{command}` may have run, wholly or in part, and was not run again: the sidecar stopped in the middle."
    return f"`{command}` did not run: {failure(back)}"
