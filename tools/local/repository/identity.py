"""Your Git configuration as a command in a sandbox sees it: your name and habits, in a file of its own.

Your home directory is hidden from commands, and your own configuration may hold keys and name programs.
"""

import os
import threading
from collections.abc import Mapping
from pathlib import Path

from tools.local.repository.configuration import (
    GitSetting,
    config_stamp,
    habits,
    personal_config,
    personal_files,
    personal_ignores,
    render_config,
)
from tools.local.temporary import make_directory


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
