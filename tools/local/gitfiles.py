"""What Git itself writes when it makes a repository or a worktree, told from what would run something later."""

import re

_SECTION = re.compile(r"\[(?:core|user|init|extensions)\]\Z")
#: Only values that no program is started by: a setting that is not here is not Git's own beginning.
_SETTING = re.compile(
    r"(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|defaultbranch"
    r"|objectformat|refstorage|name|email)\s*=\s*[\w .@+-]*\Z",
    re.IGNORECASE,
)


def harmless(path: str, content: bytes | None, workspace: str) -> bool:
    """Whether a new file of Git is as Git makes it, so that it needs no word of the person."""
    upper, _, name = path.rpartition("/")
    if content is None:
        return False
    if f"/{upper}/".endswith("/hooks/") and f"/{upper}".find("/.git/") >= 0:
        return name.endswith(".sample")
    text = content.decode("utf-8", "replace")
    if name == ".git":
        return re.fullmatch(rf"gitdir: {re.escape(workspace)}/\.git/worktrees/[\w.-]+\n?", text) is not None
    if name == "commondir":
        return "/.git/worktrees/" in f"/{path}" and text.strip() == "../.."
    if name == "config" and f"/{path}".endswith("/.git/config"):
        lines = (line.strip() for line in text.splitlines())
        return all(not line or _SECTION.match(line) or _SETTING.match(line) for line in lines)
    return False
