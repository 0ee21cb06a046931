"""Paths that control what runs later or hold secrets. Changing them always needs approval.

Names are compared as the most lenient file system would: ignoring case, Unicode composition, invisible characters,
and what Windows strips from the end of a name.
"""

import fnmatch
import os
import re
import unicodedata
from functools import lru_cache

#: Directories, at any depth.
_DIRECTORY_NAMES = """
.git .hg .svn .husky .githooks .vscode .idea .zed .fleet .devcontainer .cursor .claude .gemini .codex .windsurf
.continue .brain .ssh .gnupg .aws .circleci .buildkite
"""
#: The end of a path.
_FILE_PATTERNS = """
.env .env.* .envrc .gitattributes .gitmodules .gitconfig .mcp.json mcp.json .npmrc .yarnrc .yarnrc.yml .pypirc .netrc
.bashrc .bash_profile .zshrc .zshenv .profile .lldbinit .gdbinit sitecustomize.py usercustomize.py *.code-workspace
.pre-commit-config.yaml .gitlab-ci.yml .travis.yml .drone.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile
.github/workflows/* .github/actions/* .github/actions/*/*
"""
_DIRECTORIES = frozenset(_DIRECTORY_NAMES.split())
_WILD = "|".join(re.escape(pattern).replace(r"\*", "[^/]*") for pattern in _FILE_PATTERNS.split())
_PATTERNS = re.compile(rf"(?:\A|/)(?:{_WILD})\Z")
_UNDOTTED = frozenset(pattern for pattern in _FILE_PATTERNS.split() if pattern[0] not in ".*")
_EXAMPLES = frozenset({".env.example", ".env.sample", ".env.template", ".env.dist"})
#: Files that may hold secrets, so that reading them needs approval too.
_PRIVATE_NAMES = """
.env* *.env .npmrc .yarnrc.yml .pypirc .netrc _netrc .pgpass pgpass.conf .my.cnf .mylogin.cnf .git-credentials .htpasswd
.vault-token .dockercfg .s3cfg .boto .terraformrc .credentials .credentials.* credentials credentials.json
credentials.toml credentials.ini credentials.cfg credentials.xml credentials.csv credentials.db credentials.txt
credentials.y*ml *_credentials.json *-credentials.json service-account*.json service_account*.json serviceaccount*.json
*-service-account.json *_service_account.json client_secret*.json secrets.json secrets.toml secrets.ini secrets.y*ml
*.pem *.key *.p8 *.p12 *.pfx *.jks *.keystore *.ppk *.kdbx id_rsa* id_dsa* id_ecdsa* id_ed25519* kubeconfig kubeconfig.*
*.kubeconfig *.tfstate *.tfstate.* terraform.tfvars
"""
_SECRETS = re.compile(
    "|".join([*(fnmatch.translate(pattern) for pattern in _PRIVATE_NAMES.split()), r"id_[a-z0-9_-]+\Z"])
)
_SECRET_DIRECTORIES = frozenset({".ssh", ".gnupg", ".aws", ".kube", ".docker", ".azure", ".gcloud", ".password-store"})
#: Copies that editors and people leave behind.
_COPY = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|saved|copy|tmp|swp|swo|\d{1,3}))+\Z")
_EXAMPLE = re.compile(r"(?:\.env.*|.*\.env)?[._-]?(?:example|sample|template|dist)(?:\.env)?\Z")
#: A name of its own doesn't tell a certificate from a private key.
_CERTIFICATES = re.compile(r".*\.(?:pem|key)(?:~|\.\w+)?\Z")
_SCRIPTED = frozenset({"makefile", "gnumakefile", "justfile", "package.json"})
_SHORT_GIT = re.compile(r"git~\d+\Z")


def protected_part(path: str) -> str | None:
    """The part of a path that makes it protected, if any."""
    names = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    parts = [fold_name(name) for name in names]
    for name, part in zip(names, parts, strict=True):
        if part in _DIRECTORIES or _SHORT_GIT.match(part):
            return name
    if parts and parts[-1] not in _EXAMPLES and _PATTERNS.search("/".join(parts)):
        return path
    return None


def protected_folder(path: str) -> str | None:
    """The part of a folder's real path that makes all in it protected, if any. Counts from the repository it is in."""
    place, names = os.path.realpath(path), []
    while not os.path.lexists(f"{place}/.git"):
        place, _, name = place.rpartition("/")
        if not name:
            break
        names.append(name)
    for name in reversed(names):
        if (part := fold_name(name)) in _DIRECTORIES or part == ".github" or _SHORT_GIT.match(part):
            return name
    return None


def may_be_protected(name: str, folder: str) -> bool:
    """A quick filter: whether `protected_part` is worth calling for this name."""
    if name[0] == "." or not name.isascii():
        return True
    plain = name.lower().rstrip(". ")
    return (
        plain in _UNDOTTED
        or plain.endswith(".code-workspace")
        or ":" in name
        or "~" in name
        or ".git" in folder.lower()
    )


def runs_scripts(path: str) -> bool:
    """Whether others run this file's commands by name. Creating one is harmless; changing one needs approval."""
    return fold_name(path.rpartition("/")[2]) in _SCRIPTED


@lru_cache(4096)
def secret_part(path: str) -> str | None:
    """The part of a path that may hold a secret, if any."""
    names = [name for name in path.replace("\\", "/").split("/") if name not in ("", ".")]
    if not names or (last := fold_name(names[-1])).endswith(".pub"):
        return None
    for name in names:
        if fold_name(name) in _SECRET_DIRECTORIES:
            return name
    last = _COPY.sub("", last.strip("#"))
    last = last[1:] if last.startswith("..") else last  # a swap file
    return names[-1] if last and not _EXAMPLE.match(last) and _SECRETS.match(last) else None


def may_be_certificate(path: str) -> bool:
    """Whether only the content of a file tells if it holds a private key."""
    return _CERTIFICATES.match(fold_name(path.rpartition("/")[2])) is not None


def is_public(content: bytes) -> bool:
    """Whether a file is a certificate or a public key, without a private key."""
    return b"PRIVATE KEY" not in content and (b"BEGIN CERTIFICATE" in content or b"PUBLIC KEY-----" in content)


def fold_name(name: str) -> str:
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = "".join(char for char in name if unicodedata.category(char) not in ("Cf", "Cc", "Mn"))
    return name.casefold().partition(":")[0].rstrip(". ")
