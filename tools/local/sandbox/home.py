"""What of the person's home directory a command gets to see, and what it may write."""

import os
import stat

_SECRETS = """
.ssh .gnupg .aws .azure .kube .docker .netrc .git-credentials .pypirc .npmrc .password-store .config/gcloud .config/gh
.config/rainy-brain .local/share/rainy-brain .local/share/keyrings .mozilla .thunderbird .config/google-chrome
.config/chromium .bash_history .zsh_history .python_history Library/Keychains
"""
_CACHES = """
.cache .npm .yarn .pnpm-store .bun/install .cargo/registry .cargo/git go/pkg .gradle .m2 .ivy2 .nuget .gem
.local/share/pnpm .local/share/virtualenv Library/Caches
"""


def secrets(home: str) -> list[str]:
    """What nobody but the person reads: keys, passwords, what other programs keep."""
    return _there(home, _SECRETS)


def caches(home: str) -> list[str]:
    return _there(home, _CACHES)


def _there(home: str, names: str) -> list[str]:
    if not home.startswith("/"):
        return []
    return [place for name in names.split() if _stands(place := f"{home.rstrip('/')}/{name}")]


def _stands(place: str) -> bool:
    """It is there, and no link to elsewhere."""
    try:
        return not stat.S_ISLNK(os.lstat(place).st_mode)
    except OSError:
        return False
