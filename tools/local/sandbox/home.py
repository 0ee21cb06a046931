"""What a command sees of your home directory: tools and caches that are named here, one by one, and nothing else.

Places that hold keys stay hidden even inside a workspace, and behind links: what `~/.aws` leads to is hidden as well.
"""

# Runs for each command, where pathlib would cost as much as the rest.
# ruff: noqa: PTH110, PTH112, PTH118, PTH120, PTH208

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

_HIDDEN_NAMES = """
.ssh .gnupg .aws .azure .oci .kube .docker .netrc .git-credentials .pypirc .npmrc .yarnrc.yml .password-store
.vault-token .pgpass .my.cnf .mylogin.cnf .s3cfg .boto .terraformrc .terraform.d .cargo/credentials
.cargo/credentials.toml .gem/credentials .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
.nuget/NuGet .claude .claude.json .codex .gemini .aider.conf.yml .cursor .continue .config/gcloud .config/gh
.config/glab-cli .config/hub .config/op .config/doctl .config/sops .config/rclone .config/containers .config/pip
.config/composer .config/git/credentials .config/helm .config/rainy-brain .local/share/rainy-brain
.local/share/keyrings .local/share/kwalletd .cache/huggingface .huggingface .kaggle .netlify .config/netlify .vercel
.fly .heroku .config/heroku .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware .electrum
.bitcoin .ethereum .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history
.sqlite_history .rediscli_history .lesshst .local/share/fish/fish_history .wget-hsts .ansible .chef .config/Code
Library/Keychains
"""
#: Installed tools and packages; a command reads them.
_TOOL_NAMES = """
.local/bin .local/lib .local/share/pipx .local/share/uv .local/share/virtualenv .local/share/virtualenvs
.local/share/hatch .local/share/pdm .local/share/pnpm .local/share/mise .local/share/fnm .local/share/gem
.local/state/fnm_multishells .pyenv .nvm/versions .volta/bin .volta/tools .fnm .asdf .rbenv .rvm .sdkman/candidates
.cargo/bin .rustup .deno/bin .bun/bin .dotnet .nix-profile .opam .ghcup .cabal/bin .stack/programs .juliaup .elan go/bin
.linuxbrew
"""
#: Caches; a command that you approved writes them.
_CACHE_NAMES = """
.cache/pip .cache/uv .cache/pypoetry .cache/pdm .cache/yarn .cache/node .cache/pnpm .cache/ms-playwright
.cache/puppeteer .cache/Cypress .cache/pre-commit .cache/composer .cache/deno .npm/_cacache .npm/_npx .yarn/berry
.pnpm-store .bun/install .cargo/registry .cargo/git go/pkg .m2/repository .m2/wrapper .gradle/wrapper .gradle/caches
.ivy2/cache .nuget/packages .gem/ruby .local/share/pnpm Library/Caches/pip
"""
#: Too many writers to share unattended: a command starts with an empty one.
_EMPTY_NAMES = ".gradle/caches"
#: Variables that name an installation, or a cache below it.
_INSTALLATIONS = """
VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT FNM_DIR VOLTA_HOME PNPM_HOME JAVA_HOME GOROOT GOMODCACHE RUSTUP_HOME RBENV_ROOT
ASDF_DIR ASDF_DATA_DIR
"""
_VARIABLES = {
    **dict.fromkeys(_INSTALLATIONS.split(), ""),
    "NVM_DIR": "versions",
    "GOPATH": "pkg",
    "CARGO_HOME": "registry",
}
_FRESH_SECONDS = 2.0
#: Entries of a hidden directory that may be links.
_MAX_ENTRIES = 200
_HIDDEN, _TOOLS, _CACHES = (tuple(names.split()) for names in (_HIDDEN_NAMES, _TOOL_NAMES, _CACHE_NAMES))
_SHARED = tuple(name for name in _CACHES if name not in _EMPTY_NAMES.split())


def secret_places(home: str) -> list[str]:
    """Existing places that hold keys, each with what a link leads to."""
    return list(_secret_places(home, _cache_period()))


def _cache_period() -> int:
    """The same number for a while: looking at a hundred places costs more than all else before a command."""
    return int(time.monotonic() / _FRESH_SECONDS)


@lru_cache(maxsize=8)
def _secret_places(home: str, moment: int) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for place in _beneath(home, _HIDDEN):
        for each in _behind(place):
            found[each] = None
    return tuple(found)


def tool_places(home: str, environment: Mapping[str, str]) -> list[str]:
    """Tools and caches that exist: those with a usual place, those on the PATH, and those that variables name."""
    named = tuple((name, environment.get(name, "")) for name in ("PATH", *_VARIABLES))
    return list(_tool_places(home, named, _cache_period()))


@lru_cache(maxsize=8)
def _tool_places(home: str, named: tuple[tuple[str, str], ...], moment: int) -> tuple[str, ...]:
    environment = dict(named)
    found = dict.fromkeys(place for place in _beneath(home, (*_TOOLS, *_SHARED)) if os.path.exists(place))
    found.update(dict.fromkeys(_named_places(home, environment)))
    return tuple(found)


def cache_places(home: str) -> list[str]:
    """Links don't count: they may lead anywhere."""
    return [place for place in _beneath(home, _CACHES) if _kind(place) == stat.S_IFDIR]


def _named_places(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    prefix = f"{home.rstrip('/')}/"
    for folder in environment.get("PATH", "").split(os.pathsep):
        if folder.startswith(prefix) and os.path.isdir(folder):
            yield folder
            # An installation has its libraries beside its programs. Your home directory itself is none.
            upper = os.path.dirname(folder.rstrip("/"))
            if _is_apart(upper, prefix) and os.path.isdir(f"{upper}/lib"):
                yield upper
    for name, below in _VARIABLES.items():
        place = os.path.join(environment.get(name, ""), below).rstrip("/")
        if _is_apart(place, prefix) and os.path.isdir(place):
            yield place


def _is_apart(place: str, prefix: str) -> bool:
    """Whether it is a directory of its own below the home directory, not one that programs share."""
    name = os.path.normpath(place)[len(prefix) :] if os.path.normpath(place).startswith(prefix) else ""
    return bool(name) and name not in (".local", ".config", ".cache", ".local/share", ".local/state")


def _beneath(home: str, names: Iterable[str]) -> list[str]:
    return [f"{home.rstrip('/')}/{name}" for name in names] if home.startswith("/") and home != "/" else []


def _behind(place: str) -> Iterator[str]:
    """A place, its target if it is a link, and the targets of the links in it."""
    kind = _kind(place)
    if not kind:
        return
    real = os.path.realpath(place)
    yield from dict.fromkeys((place, real)) if os.path.exists(real) else ()
    try:
        entries = os.listdir(real)[:_MAX_ENTRIES] if os.path.isdir(real) else []
    except OSError:
        return
    for entry in entries:
        inner = f"{real}/{entry}"
        if _kind(inner) == stat.S_IFLNK and os.path.exists(target := os.path.realpath(inner)):
            yield target


def _kind(place: str) -> int:
    try:
        return stat.S_IFMT(os.lstat(place).st_mode)
    except OSError:
        return 0
