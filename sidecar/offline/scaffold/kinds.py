"""The kinds of project that can be made from templates, and what each needs before its tests can run."""

from dataclasses import dataclass
from typing import Literal

#: What must be installed before the tests can run: nothing, Python packages, or those of npm.
Needs = Literal["nothing", "python", "node"]


@dataclass(frozen=True, slots=True)
class Kind:
    #: How a person says it.
    said: str
    #: What the thing is called in the description of a project, after "A".
    noun: str
    #: The folders of templates that it is made of; a later one wins.
    layers: tuple[str, ...]
    #: The file by which a project of this kind is found again.
    anchor: str
    needs: Needs
    #: What the files do as they are: an example, which is not what the project is for.
    example: str
    #: How to see it work.
    start: str
    #: Names that would hide something that the project itself imports.
    reserved: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        return self.layers[-1]

    @property
    def python(self) -> bool:
        return "python" in self.layers


_TOOLS = frozenset({"pytest", "tests", "src", "ruff", "mypy", "hatchling"})

KINDS: dict[str, Kind] = {
    kind.key: kind
    for kind in (
        Kind(
            said="python package",
            noun="Python package",
            layers=("every", "python", "python_package"),
            anchor="pyproject.toml",
            needs="nothing",
            example="`shorten` in `src/{module}/text.py`",
            start="{python} -m pytest",
            reserved=_TOOLS,
        ),
        Kind(
            said="python cli",
            noun="command line tool",
            layers=("every", "python", "python_cli"),
            anchor="pyproject.toml",
            needs="nothing",
            example="the command `count` in `src/{module}/cli.py`",
            start="cd src && python3 -m {module} --help",
            reserved=_TOOLS,
        ),
        Kind(
            said="starlette api",
            noun="Starlette API",
            layers=("every", "python", "starlette_api"),
            anchor="pyproject.toml",
            needs="python",
            example="the routes of `/items` in `src/{module}/items.py`",
            start="{python} -m {module}",
            reserved=_TOOLS | {"starlette", "uvicorn"},
        ),
        Kind(
            said="typescript library",
            noun="TypeScript library",
            layers=("every", "typescript_library"),
            anchor="package.json",
            needs="node",
            example="`chunk` and `unique` in `src/lists.ts`",
            start="npm test",
        ),
        Kind(
            said="react app",
            noun="React app",
            layers=("every", "react_app"),
            anchor="package.json",
            needs="node",
            example="the list in `src/entries`",
            start="npm run dev",
        ),
        Kind(
            said="static site",
            noun="website",
            layers=("every", "static_site"),
            anchor="site/index.html",
            needs="nothing",
            example="the words on the pages in `site`",
            start="python3 -m http.server --directory site",
        ),
    )
}


def offered() -> str:
    """The kinds in words: “python package”, …"""
    said = [f"“{kind.said}”" for kind in KINDS.values()]
    return f"{', '.join(said[:-1])} and {said[-1]}"
