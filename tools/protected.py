"""Names that decide what runs later, or hold secrets. Changing them is asked about, whatever the approvals say.

A name is compared as the most forgiving file system would: without case, accents composed or not, invisible characters,
and what Windows drops from the end of a name.
"""

import fnmatch
import os
import re
import unicodedata

#: The whole directory, wherever it stands.
_DIRECTORY_NAMES = """
.git .hg .svn .husky .githooks .vscode .idea .zed .fleet .devcontainer .cursor .claude .gemini .codex .windsurf
.continue .brain .ssh .gnupg .aws .circleci .buildkite
"""
#: A path from its end, part by part.
_FILE_PATTERNS = """
.env .env.* .envrc .gitattributes .gitmodules .gitconfig .mcp.json mcp.json .npmrc .yarnrc .yarnrc.yml .pypirc .netrc
.bashrc .bash_profile .zshrc .zshenv .profile .lldbinit .gdbinit sitecustomize.py usercustomize.py *.code-workspace
.pre-commit-config.yaml .gitlab-ci.yml .travis.yml .drone.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile
.github/workflows/* .github/actions/* .github/actions/*/*
"""
_DIRECTORIES = frozenset(_DIRECTORY_NAMES.split())
_PATTERNS = tuple(tuple(pattern.split("/")) for pattern in _FILE_PATTERNS.split())
_EXAMPLES = frozenset({".env.example", ".env.sample", ".env.template", ".env.dist"})
#: Of these, what may hold a secret, so that also looking at it is asked about.
_PRIVATE_NAMES = ".env .env.* .envrc .npmrc .yarnrc.yml .pypirc .netrc *.pem *.key id_rsa id_ed25519 id_ecdsa"
_SECRETS = re.compile("|".join(fnmatch.translate(pattern) for pattern in _PRIVATE_NAMES.split()))
_SECRET_DIRECTORIES = frozenset({".ssh", ".gnupg", ".aws"})
#: What of a `.git` directory decides what runs.
_GIT_RUNS = ("hooks", "config", "config.worktree", "info/attributes")
#: Workspaces of several packages have such files one or two floors down.
_DEPTH = 2
_SCRIPTED = frozenset({"makefile", "gnumakefile", "justfile", "package.json"})
_SHORT_GIT = re.compile(r"git~\d+\Z")


def protected(path: str) -> str | None:
    """The part of a path that makes it protected, or nothing."""
    names = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    parts = [folded(name) for name in names]
    for name, part in zip(names, parts, strict=True):
        if part in _DIRECTORIES or _SHORT_GIT.match(part):
            return name
    if parts and parts[-1] not in _EXAMPLES:
        for pattern in _PATTERNS:
            tail = parts[-len(pattern) :]
            if len(tail) == len(pattern) and all(map(fnmatch.fnmatchcase, tail, pattern)):
                return path
    return None


def runs_scripts(path: str) -> bool:
    """A file whose commands people and tools run by name. Making a new one is no risk; changing one is asked about."""
    return folded(path.rpartition("/")[2]) in _SCRIPTED


def secret(path: str) -> str | None:
    """The part of a path that may hold a secret, or nothing."""
    for name in path.replace("\\", "/").split("/"):
        part = folded(name)
        if part in _EXAMPLES or not part:
            continue
        if part in _SECRET_DIRECTORIES or _SECRETS.match(part):
            return name
    return None


def folded(name: str) -> str:
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = "".join(char for char in name if unicodedata.category(char) not in ("Cf", "Cc", "Mn"))
    return name.casefold().partition(":")[0].rstrip(". ")


#: Where a look for protected files does not go: too large, and nobody's own.
_PASSED_OVER = frozenset({"node_modules", ".venv", "venv", "target", "dist", "build", "__pycache__"})
_LOOKED_AT = 3_000


def protected_places(workspace: str) -> list[str]:
    """What is there and protected, near the top of a workspace. Of `.git` only what runs: a commit must be possible."""
    found: list[str] = []
    folders = [(workspace, 0)]
    looked = 0
    while folders and looked < _LOOKED_AT:
        folder, depth = folders.pop(0)
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        looked += len(entries)
        for entry in entries:
            name = folded(entry.name)
            if name == ".git":
                found += [place for part in _GIT_RUNS if os.path.lexists(place := f"{entry.path}/{part}")]
            elif protected(entry.path[len(workspace) + 1 :]):
                found.append(entry.path)
            elif depth < _DEPTH and name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False):
                folders.append((entry.path, depth + 1))
    return found
