import asyncio
import re

from pydantic import JsonValue

from sidecar.wire.text import plural
from tools.git import run_git
from tools.host import Host
from tools.skipped import is_cache
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

#: Every event and record would hold more.
_MOST = 2_000
_LARGE = 50_000


class GitStatusArguments(Arguments):
    pass


class GitStatus:
    spec = ToolSpec(
        name="git_status",
        description="Show the branch and the staged, changed and untracked files.",
        arguments=GitStatusArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GitStatusArguments, host: Host, call: Call, output: Output) -> ToolResult:
        text = await run_git(host, call, ["status", "--porcelain=v1", "--branch", "-z", "--untracked-files=normal"])
        # A large repository may have very many changes.
        return await asyncio.to_thread(_render, text) if len(text) > _LARGE else _render(text)


def _render(text: str) -> ToolResult:
    fields = iter(text.split("\0"))
    branch = next(fields, "").removeprefix("## ")
    files: list[JsonValue] = []
    lines = [f"on {branch}"]
    omitted = 0
    for entry in fields:
        if not entry:
            continue
        state, path = entry[:2], entry[3:]
        origin = next(fields, "") if state[0] in "RC" else ""
        if state == "??" and is_cache(path):
            continue
        if len(files) == _MOST:
            omitted += 1
            continue
        files.append({"path": path, "state": state, **({"from": origin} if origin else {})})
        lines.append(f"{state} {path}{f' (from {origin})' if origin else ''}")
    if not files:
        lines.append("nothing changed")
    summary = f"{plural(len(files) + omitted, 'changed file')} on {branch}"
    details: dict[str, JsonValue] = {"branch": branch, **_tracking(branch), "changes": files}
    if omitted:
        details["omitted"] = omitted
        lines.append(f"… and {omitted:,} more")
    return ToolResult("\n".join(lines), details, summary)


def _tracking(branch: str) -> dict[str, JsonValue]:
    """From Git's own words: `main...origin/main [ahead 1, behind 2]`, `No commits yet on main`, `HEAD (no branch)`."""
    name, _, rest = branch.removeprefix("No commits yet on ").partition("...")
    upstream, _, distance = rest.partition(" [")
    ahead, behind = (re.search(rf"{word} (\d+)", distance) for word in ("ahead", "behind"))
    return {
        "name": None if name == "HEAD (no branch)" else name,
        "upstream": upstream or None,
        "ahead": int(ahead[1]) if ahead else 0,
        "behind": int(behind[1]) if behind else 0,
    }
