"""A test run in words: how many passed, and of each that failed its name, its place and what it expected."""

import re
from typing import NamedTuple

from sidecar.offline.output import lines_that_matter

_COUNTS = re.compile(
    r"^(?P<framework>[\w.-]+): (?:(?P<passed>\d+) passed, (?P<failed>\d+) failed, (?P<skipped>\d+) skipped|"
    r"no tests were found)"
)
_FAILED = re.compile(r"^FAILED (?P<name>.+?): (?P<message>.*)$", re.MULTILINE)
_PLACES = (
    re.compile(r"^(?P<path>[\w./-]+\.py):(?P<line>\d+): ", re.MULTILINE),
    re.compile(r'File "(?:\./)?(?P<path>[^"]+\.py)", line (?P<line>\d+)'),
    re.compile(r"❯ (?:.*\()?(?P<path>[\w./@-]+\.[cm]?[jt]sx?):(?P<line>\d+):\d+"),
    re.compile(r"\((?P<path>[\w./@-]+\.[cm]?[jt]sx?):(?P<line>\d+):\d+\)"),
    re.compile(r"(?P<path>[\w./-]+\.rs):(?P<line>\d+):\d+"),
    re.compile(r"(?P<path>[\w./-]+_test\.go):(?P<line>\d+):"),
)
_EXPECTED = re.compile(r"^E\s{1,}(.*)$", re.MULTILINE)
_END = re.compile(r"^(?:_{3,} .* _{3,}|={3,}.*|FAIL(?:ED)?[: ].*|\s*● .*|---- .* ----|⎯{3,}.*)$", re.MULTILINE)
_SHOWN = 10


class Failed(NamedTuple):
    name: str
    message: str
    place: str


def counted(content: str) -> bool:
    """Whether tests ran; else something kept them from it."""
    return _COUNTS.match(content) is not None


def told(content: str) -> str:
    counts = _COUNTS.match(content)
    if counts is None or counts["passed"] is None:
        return content
    passed, failed, skipped = (int(counts[name]) for name in ("passed", "failed", "skipped"))
    skips = f", {skipped} skipped" if skipped else ""
    if not failed and not _FAILED.search(content):
        return f"All tests pass: {passed} passed{skips} ({counts['framework']})."
    head, _, output = content.partition("\n\n")
    found = [_failure(match["name"], match["message"], output) for match in _FAILED.finditer(head)]
    lines = [f"**{failed} failed**, {passed} passed{skips} ({counts['framework']}):", ""]
    for each in found[:_SHOWN]:
        place = f" — `{each.place}`" if each.place else ""
        message = f"\n  `{each.message}`" if each.message else ""
        lines.append(f"- `{each.name}`{place}{message}")
    more = max(failed, len(found)) - min(len(found), _SHOWN)
    lines += [f"- … {more} more"] if more > 0 else []
    if not found:
        lines += ["```", lines_that_matter(output), "```"]
    return "\n".join(lines)


def _failure(name: str, message: str, output: str) -> Failed:
    block = _block(name, output)
    place = ""
    for pattern in _PLACES:
        hits = [hit for hit in pattern.finditer(block) if "site-packages" not in hit["path"]]
        own = [hit for hit in hits if not hit["path"].startswith("/")] or hits
        if own:
            # The last one is where it broke; what a test calls may have broken deeper down.
            in_test = [hit for hit in own if hit["path"] in name] or own
            place = f"{in_test[-1]['path']}:{in_test[-1]['line']}"
            break
    expected = [line.strip() for line in _EXPECTED.findall(block)][:3]
    return Failed(name, " ".join(expected or [message.strip().splitlines()[0] if message.strip() else ""])[:300], place)


def _block(name: str, output: str) -> str:
    """What the output says of one test: from its head to the next one's."""
    bare = name.rpartition("::")[2].partition("[")[0].rpartition(" > ")[2].rpartition(" › ")[2].strip()
    heads = [
        rf"^_+ .*{re.escape(bare)}.* _+$",
        rf"^(?:FAIL|ERROR): {re.escape(bare)}\b.*$",
        rf"^\s*(?:FAIL|×|✖|●)\s.*{re.escape(bare)}.*$",
        rf"^---- .*{re.escape(bare)}.* ----$",
        rf"^.*{re.escape(bare)}.*$",
    ]
    for head in heads:
        starts = list(re.finditer(head, output, re.MULTILINE))
        if starts:
            start = starts[0] if head is not heads[2] else starts[-1]
            rest = output[start.end() :]
            end = _END.search(rest)
            return rest[: end.start()] if end else rest[:4_000]
    return ""
