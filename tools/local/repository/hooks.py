"""The directory in a workspace whose files Git runs as hooks, where a configuration names one."""

import os

from tools.errors import ToolError
from tools.local.repository.configuration import config_stamp, last_value
from tools.local.repository.location import RepositoryPlace, find_repository
from tools.local.repository.view import own_files, own_settings


class HooksPath:
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
