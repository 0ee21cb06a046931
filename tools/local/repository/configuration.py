"""Git's configuration, read as text: the settings that describe a repository, and those that would start programs.

Our Git never reads a repository's own configuration. It reads a new one that holds nothing but the settings listed
here, so a setting that a later Git invents starts nothing either.
"""

import fnmatch
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sidecar.config.paths import open_regular
from tools.local.temporary import make_directory

_MAX_BYTES = 1 << 20
_MAX_INCLUDES = 20
_MAX_NAMED = 20
#: Settings that say how files, refs and objects are stored, or what a branch follows. None starts a program.
_DESCRIBING_NAMES = """
core.repositoryformatversion core.filemode core.symlinks core.ignorecase core.precomposeunicode core.autocrlf core.eol
core.safecrlf core.trustctime core.checkstat core.sparsecheckout core.sparsecheckoutcone core.logallrefupdates
core.sharedrepository core.abbrev core.protecthfs core.protectntfs core.bigfilethreshold index.sparse index.version
extensions.objectformat extensions.refstorage branch.*.remote branch.*.merge remote.*.fetch diff.renames
diff.algorithm i18n.commitencoding i18n.logoutputencoding user.name user.email author.name author.email committer.name
committer.email
"""
_DESCRIBING = frozenset(_DESCRIBING_NAMES.split())
#: Your habits, for a Git that a command starts: no settings that name programs, files or addresses.
_HABIT_NAMES = """
init.defaultbranch pull.rebase pull.ff push.default merge.ff merge.conflictstyle rebase.autosquash rebase.autostash
core.whitespace commit.verbose commit.cleanup diff.colormoved fetch.prune branch.sort tag.sort log.date
"""
_HABITS = _DESCRIBING | frozenset(_HABIT_NAMES.split())
#: Settings that start a program, or lead to other files of configuration.
_STARTING_NAMES = """
core.hookspath core.pager core.editor core.sshcommand core.askpass core.gitproxy core.alternaterefscommand
core.worktree core.attributesfile sequence.editor pager.* gpg.program gpg.*.program gpg.*.defaultkeycommand
log.showsignature credential.helper credential.*.helper filter.*.clean filter.*.smudge filter.*.process diff.external
diff.*.command diff.*.textconv difftool.*.cmd difftool.*.path mergetool.*.cmd mergetool.*.path merge.*.driver
guitool.*.cmd remote.*.uploadpack remote.*.receivepack remote.*.vcs remote.*.proxy remote.*.promisor url.*.insteadof
url.*.pushinsteadof protocol.allow protocol.*.allow alias.* alias.*.command include.path includeif.*.path
uploadpack.packobjectshook interactive.difffilter trailer.*.command trailer.*.cmd sendemail.* sendemail.*.* imap.tunnel
gc.recentobjectshook tar.*.command extensions.partialclone extensions.worktreeconfig web.browser browser.*.cmd
browser.*.path man.*.cmd man.*.path instaweb.httpd hook.*.command core.fsmonitor submodule.*.update remote.*.url
"""
_STARTING = frozenset(_STARTING_NAMES.split())
_BOOLEANS = frozenset({"", "true", "false", "yes", "no", "on", "off", "0", "1"})
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\\n]|\\.)*)")?\s*\]')
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b"}


class GitSetting(NamedTuple):
    """`name` is the section and the variable in lower case; `part` is the subsection, if there is one."""

    name: str
    part: str | None
    value: str

    @property
    def kind(self) -> str:
        """With a star for the subsection."""
        if self.part is None:
            return self.name
        section, _, variable = self.name.partition(".")
        return f"{section}.*.{variable}"

    def __str__(self) -> str:
        section, _, variable = self.name.partition(".")
        return self.name if self.part is None else f"{section}.{self.part}.{variable}"


def parse_config(text: str) -> Iterator[GitSetting]:
    """Lines that are no configuration are left out."""
    section, part, place = "", None, 0
    while place < len(text):
        char = text[place]
        if char.isspace() or char == "\ufeff":
            place += 1
        elif char in "#;":
            place = _line_end(text, place)
        elif char == "[":
            found = _SECTION.match(text, place)
            if found is None:
                section, place = "", _line_end(text, place)
                continue
            section, part = _section(found[1], found[2])
            place = found.end()
        elif (found := _NAME.match(text, place)) is not None:
            value, place = _value(text, found.end())
            if section:
                yield GitSetting(f"{section}.{found[0].lower()}", part, value)
        else:
            place = _line_end(text, place)


def describing(settings: Iterable[GitSetting]) -> list[GitSetting]:
    """The settings that a repository may have."""
    return [each for each in settings if each.kind in _DESCRIBING and "\0" not in f"{each.part}{each.value}"]


def habits(settings: Iterable[GitSetting]) -> list[GitSetting]:
    """The settings of yours that a command may see: your name and how you like to work, no keys."""
    return [each for each in settings if each.kind in _HABITS and "\0" not in f"{each.part}{each.value}"]


def starting(settings: Iterable[GitSetting]) -> tuple[str, ...]:
    """The names of settings that would start programs, or lead elsewhere."""
    found = dict.fromkeys(_clean(str(each)) for each in settings if _starts(each))
    return tuple(list(found)[:_MAX_NAMED])


def render_config(settings: Iterable[GitSetting]) -> str:
    lines = []
    for each in settings:
        section, _, variable = each.name.partition(".")
        part = "" if each.part is None else f' "{_escape(each.part)}"'
        lines.append(f'[{section}{part}]\n\t{variable} = "{_escape(each.value)}"\n')
    return "".join(lines)


def read_config(path: str) -> list[GitSetting]:
    return list(parse_config(read_text(path)))


def read_text(path: str) -> str:
    """A regular file of reasonable size; anything else is empty."""
    try:
        handle = open_regular(path)
    except (OSError, ValueError):
        return ""
    try:
        with open(handle, "rb", closefd=False) as file:
            return file.read(_MAX_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(handle)


def personal_files(home: str, config_home: str) -> tuple[str, ...]:
    """Your own configuration, the last one deciding."""
    return ("/etc/gitconfig", f"{config_home or f'{home}/.config'}/git/config", f"{home}/.gitconfig")


def personal_config(files: Sequence[str], home: str, git_dir: str) -> list[GitSetting]:
    """Your own settings with the files that they include. They are yours, wherever they lead."""
    found: list[GitSetting] = []
    waiting, seen = list(files), 0
    while waiting and seen < _MAX_INCLUDES:
        path, seen = waiting.pop(0), seen + 1
        for each in read_config(path):
            found.append(each)
            if each.kind == "include.path" or (each.kind == "includeif.*.path" and _applies(each, home, git_dir)):
                waiting.insert(0, os.path.join(os.path.dirname(path), _expand(each.value, home)))  # noqa: PTH118, PTH120
    return found


def personal_ignores(yours: Sequence[GitSetting], home: str) -> str:
    """The rules that your own configuration names."""
    named = last_value(yours, "core.excludesfile")
    return read_text(_expand(named, home) if named else f"{home}/.config/git/ignore") if home else ""


def last_value(settings: Sequence[GitSetting], name: str) -> str | None:
    return next((each.value for each in reversed(settings) if each.name == name and each.part is None), None)


def expand_home(path: str, home: str) -> str:
    return _expand(path, home)


def _applies(setting: GitSetting, home: str, git_dir: str) -> bool:
    kind, _, pattern = (setting.part or "").partition(":")
    if kind not in ("gitdir", "gitdir/i") or not pattern:
        return False
    pattern = _expand(pattern, home)
    pattern = pattern if pattern.startswith(("/", "*")) else f"**/{pattern}"
    pattern = f"{pattern}**" if pattern.endswith("/") else pattern
    name = git_dir if kind == "gitdir" else git_dir.casefold()
    return fnmatch.fnmatchcase(name, pattern if kind == "gitdir" else pattern.casefold())


def _expand(path: str, home: str) -> str:
    return f"{home}{path[1:]}" if path.startswith("~/") else path


def _starts(setting: GitSetting) -> bool:
    kind, value = setting.kind, setting.value
    if kind == "core.fsmonitor":
        return value.lower() not in _BOOLEANS
    if kind == "log.showsignature":
        return value.lower() not in ("false", "no", "off", "0")
    if kind == "submodule.*.update":
        return value.startswith("!")
    if kind == "remote.*.url":
        return "::" in value or value.startswith("-")
    section = kind.partition(".")[0]
    return kind in _STARTING or f"{section}.*" in _STARTING


def _section(name: str, part: str | None) -> tuple[str, str | None]:
    if part is not None:
        return name.lower(), re.sub(r"\\(.)", r"\1", part)
    # The old form: [section.part], in lower case.
    section, dot, rest = name.lower().partition(".")
    return section, rest if dot else None


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end + 1


def _value(text: str, place: int) -> tuple[str, int]:
    """The value after a variable, and where the next line begins."""
    while place < len(text) and text[place] in " \t\r":
        place += 1
    if place >= len(text) or text[place] != "=":
        return "true", _line_end(text, place)
    place += 1
    kept: list[str] = []
    quoted, length = False, 0  # without trailing blanks
    while place < len(text):
        char = text[place]
        place += 1
        if char == "\n":
            break
        if char == "\\" and place < len(text):
            following = text[place]
            place += 1
            if following == "\r" and text[place : place + 1] == "\n":
                place += 1
            elif following != "\n":
                kept.append(_ESCAPED.get(following, following))
                length = len(kept)
        elif char == '"':
            quoted, length = not quoted, len(kept)
        elif char in "#;" and not quoted:
            place = _line_end(text, place)
            break
        elif quoted or (kept or not char.isspace()):
            kept.append(char)
            length = len(kept) if quoted or not char.isspace() else length
    return "".join(kept[:length]), place


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


def _clean(name: str) -> str:
    """A name from a stranger's file, in one line."""
    return "".join(char if char.isprintable() else "?" for char in name)[:100]


def config_stamp(paths: Iterable[str]) -> tuple[object, ...]:
    """Changes whenever one of the files does."""
    return tuple(_stamp(path) for path in paths)


def _stamp(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116 - before every call
    except (OSError, ValueError):
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class GitIdentity:
    def __init__(self) -> None:
        self._stamp: object = None
        self._directory = ""
        self._lock = threading.Lock()

    def find(self, environment: Mapping[str, str]) -> str:
        """The directory that holds `config`; empty if you have no configuration."""
        home = environment.get("HOME", "")
        files = personal_files(home, environment.get("XDG_CONFIG_HOME", "")) if home else ()
        stamp = config_stamp(files)
        with self._lock:
            if (files, stamp) != self._stamp or not os.path.isdir(self._directory):  # noqa: PTH112
                self._stamp, self._directory = (files, stamp), self._write(files, home) if any(stamp) else ""
            return self._directory

    def _write(self, files: tuple[str, ...], home: str) -> str:
        place = make_directory("git-config", self)
        yours = personal_config(files, home, "")
        ignores = Path(place, "ignore")
        ignores.write_text(personal_ignores(yours, home), encoding="utf-8", errors="surrogateescape")
        text = render_config([*habits(yours), GitSetting("core.excludesfile", None, str(ignores))])
        Path(place, "config").write_text(text, encoding="utf-8", errors="surrogateescape")
        return place
