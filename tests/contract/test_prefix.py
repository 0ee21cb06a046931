"""What a provider can take from its cache: a later request begins with what was sent before."""

import json
from itertools import pairwise
from pathlib import Path

from sidecar.models.port import Request
from tests.support.engine import engine_harness
from tests.support.models import recorded_requests
from tests.support.plans import ended

_LINES = "".join(f"line {number}\n" for number in range(100))


def _bytes(request: Request) -> str:
    """Tools and system prompt come first, as in what providers compare."""
    tools = [(tool.name, tool.description, tool.parameters) for tool in request.tools]
    return json.dumps([tools, request.system, [repr(turn) for turn in request.history]])


def _shared(before: str, after: str) -> float:
    """The share of the earlier request with which the later one begins."""
    different = (place for place, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1])
    return next(different, len(before)) / len(before)


async def test_a_fix_goes_on_with_the_conversation_before_it(tmp_path: Path) -> None:
    read = {"calls": [{"tool": "read_file", "args": {"path": "a.txt"}}]}
    edits = [
        {"calls": [{"tool": "edit_file", "args": {"path": "a.txt", "oldText": old, "newText": new}}]}
        for old, new in (("line 1\n", "line one\n"), ("line one\n", "line eins\n"))
    ]
    script = [read, edits[0], {"text": "Done."}, edits[1], {"text": "Fixed."}]
    async with engine_harness(tmp_path) as harness:
        (harness.workspace / "a.txt").write_text(_LINES)
        with recorded_requests() as requests:
            await ended(harness, script, "fix line 1", intent="edit_code", review="never", verify=["false"])
    sent = [_bytes(request) for request in requests if request.agent == "coder"]
    assert len(sent) >= 4
    assert all(_shared(before, after) >= 0.9 for before, after in pairwise(sent))
    assert _shared(sent[2], sent[3]) > 0.99, "the fix repeats the whole conversation"
