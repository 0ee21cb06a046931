"""A repository as our Git sees it: its own objects, refs and index, with a configuration of ours.

Git takes all of its configuration and hooks from the common directory. We give it one that links to the repository's
objects and refs and holds a new configuration; its own is never read by Git, whatever it contains.
"""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tools.errors import ToolError
from tools.local.repository.configuration import (
    GitSetting,
    config_stamp,
    describing,
    expand_home,
    last_value,
    personal_config,
    personal_files,
    personal_ignores,
    read_config,
    render_config,
    starting,
)
from tools.local.repository.location import RepositoryPlace, find_repository
from tools.local.temporary import make_directory

#: What a common directory holds beside its configuration and hooks.
_LINKED = ["objects", "refs", "packed-refs", "logs", "info", "shallow", "worktrees", "modules", "reftable"]
_FORCED = """
core.bare=false core.fsmonitor=false core.hookspath=/dev/null core.pager=cat core.editor=: sequence.editor=:
core.askpass=false core.sshcommand=false core.attributesfile=/dev/null core.quotepath=false credential.helper=
gpg.program=false log.showsignature=false commit.gpgsign=false tag.gpgsign=false protocol.allow=never
safe.barerepository=explicit submodule.recurse=false diff.submodule=short status.submodulesummary=false gc.auto=0
maintenance.auto=false fetch.recursesubmodules=false core.untrackedcache=keep
"""
_MAX_VIEWS = 32


class RepositoryView(NamedTuple):
    place: RepositoryPlace
    #: The common directory that our Git gets.
    common: str
    #: Settings of the repository that would start programs, which ours doesn't have.
    programs: tuple[str, ...]
    #: Where the repository's hooks are: its own directory, or what a configuration names.
    hooks: str
    #: Filters that your own configuration names, and those of the repository.
    own_filters: tuple[GitSetting, ...]
    its_filters: tuple[GitSetting, ...]
    #: Whether you sign your commits.
    signs: bool

    @property
    def readable(self) -> tuple[str, ...]:
        return (self.common, self.place.top, self.place.directory, self.place.common)

    @property
    def writable(self) -> tuple[str, ...]:
        """Where a commit writes: never the configuration or the hooks."""
        parts = [f"{self.place.common}/{name}" for name in ("objects", "refs", "logs")]
        return (self.place.directory, *parts)


class RepositoryViews:
    """The views of this process, in a directory of their own; made anew when a configuration changes."""

    def __init__(self) -> None:
        self._root = ""
        self._known: dict[str, tuple[object, RepositoryView]] = {}
        self._number = 0
        self._lock = threading.Lock()

    def open(self, workspace: str, environment: Mapping[str, str]) -> RepositoryView:
        """Raises `NoRepository`."""
        home = environment.get("HOME", "")
        place = find_repository(workspace, home)
        personal = personal_files(home, environment.get("XDG_CONFIG_HOME", "")) if home else ()
        stamp = (place, config_stamp((*own_files(place), *personal)))
        with self._lock:
            known = self._known.get(place.directory)
            if known is None or known[0] != stamp or not os.path.exists(known[1].common):  # noqa: PTH110
                if len(self._known) >= _MAX_VIEWS:
                    self._known.pop(next(iter(self._known)))
                known = self._known[place.directory] = (stamp, self._make(place, home, personal))
            return known[1]

    def _make(self, place: RepositoryPlace, home: str, personal: tuple[str, ...]) -> RepositoryView:
        if not self._root:
            self._root = make_directory("git", self)
        self._number += 1
        view = Path(self._root, str(self._number))
        (view / "git").mkdir(parents=True)
        own, yours = own_settings(place), personal_config(personal, home, place.directory)
        (view / "config").write_text(
            render_config([*describing(yours), *describing(own), *_forced()]),
            encoding="utf-8",
            errors="surrogateescape",
        )
        (view / "git/ignore").write_text(personal_ignores(yours, home), encoding="utf-8", errors="surrogateescape")
        for name in ("HEAD", *_LINKED):
            (view / name).symlink_to(f"{place.common}/{name}")
        return RepositoryView(
            place,
            str(view),
            starting(own),
            _hooks(place, own, yours, home),
            tuple(each for each in yours if each.name.startswith("filter.")),
            tuple(each for each in own if each.name.startswith("filter.")),
            (last_value([*yours, *own], "commit.gpgsign") or "").lower() in ("true", "yes", "on", "1"),
        )


def own_files(place: RepositoryPlace) -> tuple[str, ...]:
    return (f"{place.common}/config", f"{place.directory}/config.worktree", f"{place.common}/config.worktree")


def own_settings(place: RepositoryPlace) -> list[GitSetting]:
    shared = read_config(f"{place.common}/config")
    apart = (last_value(shared, "extensions.worktreeconfig") or "").lower() in ("true", "yes", "on", "1")
    return [*shared, *(read_config(f"{place.directory}/config.worktree") if apart else ())]


def _forced() -> list[GitSetting]:
    return [GitSetting(name, None, value) for name, _, value in (each.partition("=") for each in _FORCED.split())]


def _hooks(place: RepositoryPlace, own: list[GitSetting], yours: list[GitSetting], home: str) -> str:
    named = last_value([*yours, *own], "core.hookspath")
    return os.path.join(place.top, expand_home(named, home)) if named else f"{place.common}/hooks"  # noqa: PTH118


def is_hook(path: str, hooks: str | None) -> bool:
    """Whether a path of the workspace is, or is in, what `HooksPath` found."""
    return hooks is not None and f"{path}/".casefold().startswith(f"{hooks}/".casefold())


class HooksPath:
    """The directory in a workspace whose files Git runs as hooks; its files are protected."""

    def __init__(self, workspace: str) -> None:
        self._workspace = workspace
        self._stamp: object = None
        self._found: str | None = None

    def find(self) -> str | None:
        """Relative to the workspace; `None` if `core.hooksPath` names nothing inside it."""
        try:
            place = find_repository(self._workspace, os.environ.get("HOME", ""))
        except ToolError:
            return None
        stamp = (place, config_stamp(own_files(place)))
        if stamp != self._stamp:
            self._stamp, self._found = stamp, self._read(place)
        return self._found

    def _read(self, place: RepositoryPlace) -> str | None:
        value = last_value(own_settings(place), "core.hookspath")
        if not value or value.startswith("~"):
            return None
        workspace = os.path.realpath(self._workspace)
        real = os.path.realpath(os.path.join(place.top, value))  # noqa: PTH118
        return real[len(workspace) + 1 :] if real.startswith(f"{workspace}/") else None
