"""A project to create: its folder, its names, and its files from templates."""

import html
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path, PurePosixPath
from textwrap import fill

from sidecar.offline.scaffold.kinds import SUFFIX, TEMPLATES, Kind, load_kinds, module, slug, template_files, title
from sidecar.offline.scaffold.request import ProjectRequest

_HOLE = re.compile(r"\{\{(\w+)\}\}")
_WIDTH = 88


@dataclass(frozen=True, slots=True)
class NewProject:
    kind: Kind
    name: str
    purpose: str
    #: Its folder in the workspace, or `.`.
    root: str

    @classmethod
    def of(cls, asked: ProjectRequest, root: str, workspace: str) -> "NewProject":
        """Without a name it takes that of its folder."""
        folder = PurePosixPath(root).name or PurePosixPath(workspace.replace("\\", "/")).name
        kind = load_kinds()[asked.kind]
        return cls(kind, slug(asked.name or folder) or default_name(kind), asked.purpose, root)

    @property
    def module(self) -> str:
        return module(self.name)

    @property
    def description(self) -> str:
        """One sentence: what it is and what for."""
        joint, _, what = self.purpose.partition(" ")
        if joint == ":":
            return f"{what[:1].upper()}{what[1:]}."
        return f"A {self.kind.noun} {self.purpose}." if self.purpose else f"A {self.kind.noun}."

    def path(self, file: str) -> str:
        return file if self.root == "." else f"{self.root}/{file}"

    def files(self) -> dict[str, str]:
        """The text of every file, by its path in the project."""
        holes = self._holes()
        return {_fill(path, holes): _fill(text, holes, _escape(path)) for path, text in _templates(self.kind)}

    def purposes(self) -> dict[str, str]:
        """The purpose of each file in a few words."""
        holes = self._holes()
        return {_fill(path, holes): _fill(words, holes) for path, words in _purposes(self.kind).items()}

    def _holes(self) -> dict[str, str]:
        wrapped = fill(self.description, _WIDTH)
        return {
            "name": self.name,
            "module": self.module,
            "title": title(self.name),
            "description": self.description,
            "docstring": f"{wrapped}\n" if "\n" in wrapped else wrapped,
            "year": str(date.today().year),
        }


def default_name(kind: Kind) -> str:
    return f"my-{kind.said.split()[-1]}"


def group_files(files: Sequence[str]) -> dict[str, list[str]]:
    """The files by steps that don't depend on each other."""
    found: dict[str, list[str]] = {"sources": [], "tests": [], "project files": []}
    for path in files:
        name = path.rpartition("/")[2]
        if path.startswith("tests/") or ".test." in name:
            found["tests"].append(path)
        elif "/" in path and not path.startswith("scripts/"):
            found["sources"].append(path)
        else:
            found["project files"].append(path)
    return {part: paths for part, paths in found.items() if paths}


def template_paths(kind: Kind) -> list[str]:
    return [path for path, _ in _templates(kind)]


def _templates(kind: Kind) -> tuple[tuple[str, str], ...]:
    return _read_templates(kind) if kind.own else _built_in_templates(kind)


@cache
def _built_in_templates(kind: Kind) -> tuple[tuple[str, str], ...]:
    return _read_templates(kind)


def _read_templates(kind: Kind) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for layer in kind.layers:
        found |= dict(_layer(kind.folder / layer))
    return tuple(sorted(found.items()))


@cache
def _purposes(kind: Kind) -> dict[str, str]:
    with (TEMPLATES / "files.toml").open("rb") as file:
        purposes: dict[str, dict[str, str]] = tomllib.load(file)
    return {**purposes["every"], **purposes.get(kind.key, {})}


def _layer(folder: Path) -> Iterator[tuple[str, str]]:
    for name in template_files(folder):
        yield name, (folder / f"{name}{SUFFIX}").read_text(encoding="utf-8", errors="replace")


def _fill(text: str, holes: dict[str, str], escape: Callable[[str], str] = str) -> str:
    return _HOLE.sub(lambda hole: escape(holes.get(hole[1], hole[0])), text)


def _escape(path: str) -> Callable[[str], str]:
    return html.escape if path.endswith((".html", ".svg")) else str
