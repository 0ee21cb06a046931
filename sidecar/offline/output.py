"""What a command or a test run said, cut to what matters."""

import re

from sidecar.models.port import ToolReturn

_ENDED = re.compile(r"\n?\((exit code (?P<code>\d+)|ended by signal \d+)\)\s*(\n\d+ process(?:es)? that it left.*)?$")
_MATTERS = re.compile(
    r"\b(error|failed|failure|fatal|exception|traceback|panic|cannot|can't|not found|denied|undefined|unexpected)\b|"
    r"^E\s|✖|✗|×|^\S+:\d+(:\d+)?[: ]",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_MISSING = re.compile(r"No module named|: (?:command )?not found|exit code 127")
_SHOWN = 40
_TAIL = 12


def ended(content: str) -> bool:
    """Whether a command ran to its end and failed; else it was not carried out at all."""
    return _ENDED.search(content) is not None


def refused(content: str) -> bool:
    """Whether the person did not want it: that is an answer as well, and no failure."""
    return "The user declined" in content


def why(returned: ToolReturn) -> str:
    """Why a call did not succeed, said to the person."""
    content = returned.content.strip()
    return "You said no." if refused(content) else content.removesuffix(returned.advice or "").strip()


def exit_words(content: str) -> str:
    found = _ENDED.search(content)
    return found[1] if found else ""


def lines_that_matter(content: str, most: int = _SHOWN) -> str:
    """The output, or of a long one the lines that name a fault and the last ones."""
    lines = _COLOUR.sub("", _ENDED.sub("", content)).strip("\n").splitlines()
    if len(lines) <= most:
        return "\n".join(lines)
    first = [line for line in lines[:-_TAIL] if _MATTERS.search(line)][: most - _TAIL]
    left = len(lines) - len(first) - _TAIL
    return "\n".join([*first, f"… {left} lines left out …", *lines[-_TAIL:]])


def told(command: str, returned: ToolReturn) -> str:
    """How a command went, in words and lines."""
    status, content = returned.status, returned.content
    if status == "success":
        shown = lines_that_matter(content)
        if shown in ("", "(no output)"):
            return f"`{command}` ran without saying anything."
        return f"`{command}` ran:\n\n```\n{shown}\n```"
    if ended(content):
        shown = lines_that_matter(content)
        said = f":\n\n```\n{shown}\n```" if shown else ", and it said nothing."
        missing = _MISSING.search(content)
        hint = "\n\nIt is not installed here; “install the dependencies” may bring it." if missing else ""
        return f"`{command}` failed ({exit_words(content)}){said}{hint}"
    if status == "cancelled":
        # What it may have done already, nobody knows: it is not run twice unasked.
        return f"`{command}` was stopped before its end and is not run again by itself. Ask for it anew if it should."
    return f"`{command}` was not carried out: {why(returned)}"
