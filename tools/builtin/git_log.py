import re
from typing import Annotated

from pydantic import Field, JsonValue

from sidecar.wire.text import plural
from tools.errors import InvalidArguments, ToolError
from tools.git import GitPath, run_git
from tools.host import Host
from tools.spec import Arguments, Call, Output, ToolResult, ToolSpec

_DATE = re.compile(
    r"today|yesterday|midnight|last (?:week|month|year)|(?:last )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"\d{1,4} (?:minute|hour|day|week|month|year)s?(?: ago)?|\d{4}-\d\d-\d\d",
    re.IGNORECASE,
)

_FIELDS = 4


class GitLogArguments(Arguments):
    path: GitPath | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 20
    since: (
        Annotated[str, Field(min_length=1, max_length=200, description="A tag, a commit, a date, or `last tag`.")]
        | None
    ) = None


class GitLog:
    spec = ToolSpec(
        name="git_log",
        description="List the latest commits, newest first: all, or those of a path, or since a tag, commit or date.",
        arguments=GitLogArguments,
        executor="hybrid",
        retryable=True,
    )

    async def run(self, args: GitLogArguments, host: Host, call: Call, output: Output) -> ToolResult:
        since = await _start_options(args.since, host, call) if args.since else []
        words = [
            "log",
            f"--max-count={args.limit}",
            "--no-color",
            "--date=iso-strict",
            "--format=%h%x00%ad%x00%an%x00%s",
            *since,
        ]
        text = await run_git(host, call, [*words, "--", *([args.path] if args.path else [])])
        found = [fields for line in text.splitlines() if len(fields := line.split("\0")) == _FIELDS]
        commits: list[JsonValue] = [
            {"hash": commit, "date": date, "author": author, "subject": subject}
            for commit, date, author, subject in found
        ]
        lines = [f"{commit} {date} {author}: {subject}" for commit, date, author, subject in found]
        count = plural(len(commits), "commit")
        return ToolResult("\n".join(lines) or "No commits.", {"commits": commits}, count)


async def _start_options(since: str, host: Host, call: Call) -> list[str]:
    """The options that make `git log` start after a commit or tag, or at a date."""
    if since.strip().lower() in ("last tag", "the last tag", "last release", "the last release"):
        try:
            tag = (await run_git(host, call, ["describe", "--tags", "--abbrev=0"])).strip()
        except ToolError:
            raise ToolError("The repository has no tags.", advice="Use a commit or a date.", code="no_tag") from None
        return [f"{tag}..HEAD"]
    if not since.startswith("-") and re.fullmatch(r"[\w./@^~-]+", since):
        try:
            await run_git(host, call, ["rev-parse", "--verify", "--quiet", f"{since}^{{commit}}"])
        except ToolError:
            pass
        else:
            return [f"{since}..HEAD"]
    if not _DATE.fullmatch(since.strip()):
        raise InvalidArguments(
            f"{since!r} is not a tag, commit or date of this repository.",
            advice="Use, for example, v1.2, abc1234, yesterday or 2024-01-31.",
        )
    return [f"--since={since.strip()}"]
