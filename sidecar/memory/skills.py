"""The skills library: folders with a `SKILL.md`, as other coding agents use them too.

They are in `skills/` of your configuration directory, and in a workspace that you trust in `.brain/skills/`,
`.claude/skills/` and `.codex/skills/`. A skill is text that an agent may read; it grants nothing.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from stat import S_ISDIR
from typing import NamedTuple

from sidecar.config.paths import open_regular

IN_WORKSPACE = (".brain/skills", ".claude/skills", ".codex/skills")
MAX_BODY = 32 * 1024
_MAX_SKILLS = 200
_MAX_DESCRIPTION = 500
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,63}")


class Skill(NamedTuple):
    name: str
    description: str
    #: Where it is; its scripts lie beside `SKILL.md`.
    folder: Path
    #: Whether it comes from the workspace, not from your configuration directory.
    shared: bool


class Skills:
    def __init__(self, user: Path | None, trusted: Callable[[str], bool]) -> None:
        self._user = user
        self._trusted = trusted

    def any(self, workspace: str) -> bool:
        """Whether there is a folder to read."""
        own = self._user is not None and os.path.isdir(f"{self._user}/skills")  # noqa: PTH112 - with every task
        return own or any(os.path.isdir(f"{workspace}/{name}") for name in IN_WORKSPACE)  # noqa: PTH112

    def list(self, workspace: str) -> list[Skill]:
        """By name; yours hide those of the workspace."""
        found: dict[str, Skill] = {}
        if self._trusted(workspace):
            for name in reversed(IN_WORKSPACE):
                found |= {skill.name: skill for skill in _read_folder(Path(workspace) / name, shared=True)}
        if self._user is not None:
            found |= {skill.name: skill for skill in _read_folder(self._user / "skills", shared=False)}
        return sorted(found.values())

    def body(self, workspace: str, name: str) -> tuple[Skill, str] | None:
        """The skill of that name with its instructions, below the front matter."""
        skill = next((each for each in self.list(workspace) if each.name == name), None)
        text = _read(skill.folder / "SKILL.md") if skill is not None else None
        return (skill, _split(text)[1]) if skill is not None and text is not None else None


def _read_folder(folder: Path, *, shared: bool) -> list[Skill]:
    """Links may lead anywhere, so they don't count."""
    try:
        names = sorted(os.listdir(folder))[:_MAX_SKILLS]  # noqa: PTH208
    except OSError:
        return []
    found = []
    for name in names:
        place = folder / name
        try:
            is_folder = S_ISDIR(place.lstat().st_mode)
        except OSError:
            continue
        text = _read(place / "SKILL.md") if is_folder and _NAME.fullmatch(name) else None
        if text is not None:
            front = _split(text)[0]
            found.append(Skill(name, front.get("description", "")[:_MAX_DESCRIPTION], place, shared))
    return found


def _read(path: Path) -> str | None:
    try:
        with os.fdopen(open_regular(path, follow=False), "rb") as file:
            return file.read(MAX_BODY).decode("utf-8", "replace")
    except OSError:
        return None


def _split(text: str) -> tuple[dict[str, str], str]:
    """The `key: value` lines between two lines of dashes, and the text after them."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].strip() != "---":
        return {}, text.strip()
    front: dict[str, str] = {}
    key = ""
    for number, line in enumerate(lines[1:], 2):
        if line.strip() == "---":
            return front, "\n".join(lines[number:]).strip()
        if line.startswith((" ", "\t")) and key:
            front[key] = f"{front[key]} {line.strip()}".strip(" >|")
        elif ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            front[key] = value.strip().strip("\"'").strip(">|").strip()
    return {}, text.strip()
