"""An agent's last words as a check: files, commits and plans that it speaks of are looked at."""

import re
from collections.abc import Sequence

from sidecar.verify.change import Change
from sidecar.verify.claims import Claims, said_false
from sidecar.verify.result import Finding, looked
from tools.errors import ToolError
from tools.git import run_git
from tools.host import Host
from tools.spec import Call

_SECONDS = 10.0
_LOOKED_AT = 100
_TAKES_AWAY = re.compile(r"\b(?:delet|remov|drop|renam|mov|clean)\w*", re.IGNORECASE)

#: A step of a plan: its title, and the files that it names.
Planned = tuple[str, Sequence[str]]


async def statements(
    claims: Claims, planned: Sequence[Planned], changes: Sequence[Change], host: Host, mark: str
) -> Finding | None:
    changed = [change.path for change in changes if change.before != change.after]
    problems = said_false(claims.files, changed, await _there([claim.path for claim in claims.files], host))
    problems += await _never_written(planned, claims.doubted, changes, host)
    if claims.committed:
        problems += await _commits(claims, changed, host, mark)
    if not (claims.files or claims.committed or problems):
        return None
    hints = ["Look at what is really there before you say that it is done; write what is missing."] if problems else []
    return looked("claims", problems, hints=hints)


async def _there(paths: Sequence[str], host: Host) -> list[str]:
    found = []
    for path in paths[:_LOOKED_AT]:
        try:
            await host.stat(path)
        except ToolError as error:
            if error.code == "not_found":
                continue
        found.append(path)
    return [*found, *paths[_LOOKED_AT:]]


async def _never_written(
    planned: Sequence[Planned], doubted: set[str], changes: Sequence[Change], host: Host
) -> list[str]:
    touched = doubted | {change.path for change in changes}
    wanted = [
        (title, path.removeprefix("./"))
        for title, files in planned
        if not _TAKES_AWAY.search(title)
        for path in files
        if re.fullmatch(r"[\w./@+-]+\.\w+", path) and path.removeprefix("./") not in touched
    ]
    there = await _there([path for _, path in wanted], host)
    return [f"{path} was planned ({title}), and there is no such file" for title, path in wanted if path not in there]


async def _commits(claims: Claims, changed: Sequence[str], host: Host, mark: str) -> list[str]:
    """A commit that is said to have been made is there, and what was changed is in one."""
    call = Call(f"{mark}.git", host.workspace, _SECONDS)
    try:
        await run_git(host, call, ["rev-parse", "--git-dir"])
    except ToolError:
        return ["a commit was said to have been made, and this is no Git repository"]
    problems = []
    for name in dict.fromkeys(claims.commits):
        try:
            await run_git(host, call, ["rev-list", "-n", "1", name, "--"])
        except ToolError:
            problems.append(f"the commit {name} was said to have been made, and there is none of that name")
    if problems:
        return problems
    try:
        left = await run_git(host, call, ["diff", "--name-only", "-z", "HEAD", "--", *changed]) if changed else ""
        new = await run_git(host, call, ["ls-files", "--others", "-z", "--", *changed]) if changed else ""
    except ToolError:
        return ["a commit was said to have been made, and there is none at all"]
    open_files = sorted({path for path in f"{left}{new}".split("\0") if path})
    if open_files:
        return [f"the change was said to have been committed, and {', '.join(open_files[:10])} is not in any commit"]
    return []
