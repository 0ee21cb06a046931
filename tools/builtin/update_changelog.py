from typing import Annotated

from pydantic import Field

from tools.builtin.encoding import TextFile, new_text
from tools.builtin.existing import existing
from tools.builtin.git import git
from tools.builtin.git_log import started
from tools.changes import told
from tools.code.commits import grouped, read_commits
from tools.errors import ToolError
from tools.host import FileChange, Host
from tools.reading.sections import below_title
from tools.spec import Arguments, Call, PreparedChange, ToolResult, ToolSpec

_COMMITS = 500
_MARK = "changelog"


class UpdateChangelogArguments(Arguments):
    since: (
        Annotated[str, Field(min_length=1, max_length=200, description="A tag, commit or date; else the last tag.")]
        | None
    ) = None
    path: str = "CHANGELOG.md"


class UpdateChangelog:
    spec = ToolSpec(
        name="update_changelog",
        description="Write the commits since a tag, commit or date into the changelog, grouped, between marks.",
        arguments=UpdateChangelogArguments,
        executor="hybrid",
        effects="files",
    )

    async def prepare(self, args: UpdateChangelogArguments, host: Host, call: Call) -> PreparedChange:
        since, where = await _since(args.since, host, call)
        log = await git(host, call, ["log", f"--max-count={_COMMITS}", "--no-color", "--format=%h%x09%s", *since, "--"])
        commits = read_commits(log)
        if not commits:
            raise ToolError(f"There is no commit {where}; the changelog was left as it is.", code="nothing_to_do")
        before = await existing(host, args.path)
        file = TextFile.of(before, args.path) if before is not None else None
        old = file.text.replace("\r\n", "\n") if file is not None else "# Changelog\n"
        groups = grouped(commits)
        parts = ["## Unreleased"]
        for title, chosen in groups.items():
            parts.append("\n".join([f"### {title}", "", *(f"- {each.plain} ({each.hash})" for each in chosen)]))
        text = below_title(old, _MARK, "\n\n".join(parts))
        if file is not None and text == old:
            raise ToolError(f"{args.path} is up to date: it names these commits already.", code="nothing_to_do")
        after = file.rewritten(text, args.path) if file is not None else new_text(text)
        counts = ", ".join(f"{title} {len(chosen)}" for title, chosen in groups.items())
        size = f"{len(commits)} commit{'s' if len(commits) > 1 else ''}"
        done = "Updated" if before is not None else "Created"
        said = f"{done} {args.path} from {size} {where}: {counts}."
        changes = (FileChange(args.path, before, after),)
        return PreparedChange(changes, ToolResult(said, told(changes).details, f"{len(commits)} commits"))


async def _since(since: str | None, host: Host, call: Call) -> tuple[list[str], str]:
    if since is not None:
        return await started(since, host, call), f"since {since}"
    try:
        begin = await started("last tag", host, call)
    except ToolError as error:
        if error.code != "no_tag":
            raise
        return [], "in all (there is no tag yet)"
    return begin, f"since {begin[0].removesuffix('..HEAD')}"
