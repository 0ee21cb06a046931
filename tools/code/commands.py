"""Find the commands that install, build, check and start a project."""

import re
from collections.abc import Mapping

from tools.code.manifest import manifest, read_text
from tools.host import Host
from tools.node_package import read_package
from tools.text_files import exists

KINDS = ("install", "build", "lint", "typecheck", "format", "start")
_NAMES = {
    "install": ("install", "setup", "bootstrap", "deps"),
    "build": ("build", "compile"),
    "lint": ("lint", "check", "eslint"),
    "typecheck": ("typecheck", "type-check", "types", "tsc"),
    "format": ("format", "fmt", "prettier"),
    "start": ("run", "dev", "start", "serve"),
}
#: Commands by the file that marks a build system; the first one that has a kind of command names it.
_BUILD_SYSTEMS = {
    "Cargo.toml": {
        "install": "cargo fetch",
        "build": "cargo build",
        "lint": "cargo clippy",
        "typecheck": "cargo check",
        "format": "cargo fmt",
        "start": "cargo run",
    },
    "go.mod": {
        "install": "go mod download",
        "build": "go build ./...",
        "lint": "go vet ./...",
        "format": "gofmt -w .",
        "start": "go run .",
    },
    "gradlew": {"build": "./gradlew build"},
    "build.gradle": {"build": "gradle build"},
    "build.gradle.kts": {"build": "gradle build"},
    "mvnw": {"build": "./mvnw package"},
    "pom.xml": {"build": "mvn package"},
    "CMakeLists.txt": {"build": "cmake -S . -B build && cmake --build build"},
    "meson.build": {"build": "meson setup build && meson compile -C build"},
}
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_FIRST_RULE = re.compile(r"^([^\s#.:=][^:=\n]*):(?!=)", re.MULTILINE)
#: First rules of a Makefile that do not build.
_NO_BUILD = re.compile(
    r"\b(help|tests?|check|clean|lint|format|fmt|install|setup|run|start|dev|serve|deploy|docs|usage|list)\b"
)
_LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun"}


async def find_commands(host: Host) -> dict[str, str]:
    """Ask make first, then the scripts of package.json, then the ecosystem's defaults."""
    names = {info.path: info.kind for info in await host.list(".")}
    found = [await source(host, names) for source in (_make, _node, _python)]
    found += [commands for file, commands in _BUILD_SYSTEMS.items() if file in names]
    found.append(await _make_alone(host, names))
    first = {kind: command for commands in reversed(found) for kind, command in commands.items()}
    return {kind: first[kind] for kind in KINDS if kind in first}


def plain_command(command: str) -> str:
    """Return a test command as you would type it."""
    return command.replace(" -q -rfE --tb=short --color=no", "").replace(" --silent", "").removeprefix("./")


async def _make(host: Host, names: Mapping[str, str]) -> dict[str, str]:
    if "Makefile" not in names:
        return {}
    targets = (await manifest(host, {"Makefile"})).scripts
    return {
        kind: f"make {name}"
        for kind, wanted in _NAMES.items()
        for name in reversed(wanted)
        if f"make {name}" in targets
    }


async def _node(host: Host, names: Mapping[str, str]) -> dict[str, str]:
    if "package.json" not in names:
        return {}
    package = await read_package(host)
    manager = next((manager for lock, manager in _LOCKS.items() if lock in names), "npm")
    found = {"install": f"{manager} install"} if package.packages else {}
    for kind, wanted in _NAMES.items():
        name = next((name for name in wanted if name in package.scripts), None)
        if name is not None and kind != "install":
            found[kind] = f"{manager} run {name}"
    return found


async def _python(host: Host, names: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    text = await read_text(host, "pyproject.toml") if "pyproject.toml" in names else ""
    python = await _interpreter(host, names)
    if "uv.lock" in names:
        found["install"] = "uv sync"
    elif "poetry.lock" in names:
        found["install"] = "poetry install"
    elif "requirements.txt" in names:
        found["install"] = f"{python} -m pip install -r requirements.txt"
    elif "[project]" in text:
        found["install"] = f"{python} -m pip install -e ."
    if "[build-system]" in text:
        found["build"] = f"{python} -m build"
    beside = python.removesuffix("python") if python.endswith("/python") else ""
    if "ruff" in text or "ruff.toml" in names or ".ruff.toml" in names:
        found |= {"lint": f"{beside}ruff check .", "format": f"{beside}ruff format ."}
    elif ".flake8" in names or "flake8" in text:
        found["lint"] = f"{beside}flake8"
    if "[tool.black]" in text:
        found.setdefault("format", f"{beside}black .")
    if "mypy.ini" in names or "[tool.mypy]" in text:
        found["typecheck"] = f"{beside}mypy ."
    for name in ("manage.py", "main.py", "app.py"):
        if name in names:
            found.setdefault("start", f"{python} {name}{' runserver' if name == 'manage.py' else ''}")
    if script := re.search(r"^\[project\.scripts\][ \t]*\n\s*([\w-]+)\s*=\s*\"([\w.]+):", text, re.MULTILINE):
        found["start"] = f"{python} -m {script[2].removesuffix('.__main__')}"
    return found


async def _interpreter(host: Host, names: Mapping[str, str]) -> str:
    for folder in (".venv", "venv"):
        if names.get(folder) == "directory" and await exists(host, f"{folder}/bin/python"):
            return f"{folder}/bin/python"
    return "python3"


async def _make_alone(host: Host, names: Mapping[str, str]) -> dict[str, str]:
    """Use plain `make` if the first rule of the Makefile builds."""
    file = next((name for name in _MAKEFILES if name in names), None)
    first = _FIRST_RULE.search(await read_text(host, file)) if file is not None else None
    if first is None or _NO_BUILD.search(first[1]):
        return {}
    return {"build": "make"}
