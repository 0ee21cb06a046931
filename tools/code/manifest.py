"""Read a project's manifests and the start of its README."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.errors import ToolError
from tools.host import Host
from tools.parsed import parse_json, parse_toml

_SIZE = 512 * 1024
#: Where a README says what it is about.
_PROSE = 20_000
#: Tags, addresses, and labels such as "**Source Code**:".
_NO_PROSE = re.compile(r"<[^<>]{0,500}>|https?://\S+|\*\*[^*]{0,200}\*\*:")
_WORDS = 700


@dataclass(slots=True)
class Manifest:
    name: str = ""
    version: str = ""
    description: str = ""
    #: Runtime dependencies by manifest.
    needs: dict[str, list[str]] = field(default_factory=dict)
    #: Commands or files that start it, with their targets.
    entries: dict[str, str] = field(default_factory=dict)
    #: Scripts such as `npm run build` and `make test`.
    scripts: dict[str, str] = field(default_factory=dict)
    #: Manifests that cannot be read, with the reason.
    broken: list[str] = field(default_factory=list)


async def read_text(host: Host, path: str) -> str:
    try:
        return (await host.read(path, _SIZE)).decode("utf-8", "replace")
    except ToolError:
        return ""


async def manifest(host: Host, names: Collection[str]) -> Manifest:
    """Read the manifests in the workspace folder; earlier ones take precedence."""
    found = Manifest()
    for name, reader in (
        ("pyproject.toml", _pyproject),
        ("package.json", _package),
        ("Cargo.toml", _cargo),
        ("go.mod", _go),
        ("Makefile", _makefile),
        ("requirements.txt", _requirements),
    ):
        if name in names:
            try:
                reader(found, await read_text(host, name))
            except (ValueError, TypeError, AttributeError) as error:
                found.broken.append(f"{name} cannot be read: {error}")
    return found


def first_paragraph(readme: str) -> str:
    """Return the first paragraph of prose in a README."""
    text = re.sub(r"<!--.*?-->|^```.*?^```", "", readme[:_PROSE], flags=re.DOTALL | re.MULTILINE)
    for block in re.split(r"\n\s*\n", text):
        lines = [
            line for line in block.strip().splitlines() if not re.match(r"\s*(#|=+\s*$|-+\s*$|<|\[?!\[|\||---)", line)
        ]
        prose = re.sub(r"\s+", " ", " ".join(lines)).strip()
        prose = re.sub(r"^>\s*", "", prose)
        words = _NO_PROSE.sub("", prose)
        if (
            len(words) > 20
            and re.search(r"[a-z]{2} [a-z]{2}", words, re.IGNORECASE)
            and not prose.startswith(("- ", "* "))
        ):
            return prose[:_WORDS] + ("…" if len(prose) > _WORDS else "")
    return ""


def _read_names(found: Manifest, table: Mapping[str, Any]) -> None:
    found.name = found.name or str(table.get("name", ""))
    found.version = found.version or str(table.get("version", "") if not isinstance(table.get("version"), dict) else "")
    found.description = found.description or str(table.get("description", ""))


def _pyproject(found: Manifest, text: str) -> None:
    data = parse_toml(text)
    project = data.get("project", {})
    poetry = data.get("tool", {}).get("poetry", {})
    _read_names(found, project or poetry)
    needs = [_package_name(each) for each in project.get("dependencies", [])]
    needs += [name for name in poetry.get("dependencies", {}) if name != "python"]
    if needs:
        found.needs["pyproject.toml"] = needs
    scripts = {**project.get("scripts", {}), **project.get("gui-scripts", {}), **poetry.get("scripts", {})}
    found.entries |= {str(name): str(target) for name, target in scripts.items()}


def _package(found: Manifest, text: str) -> None:
    data = parse_json(text)
    _read_names(found, data)
    needs = [str(name) for name in data.get("dependencies", {})]
    if needs:
        found.needs["package.json"] = needs
    programs = data.get("bin", {})
    if isinstance(programs, str):
        programs = {str(data.get("name", "bin")): programs}
    found.entries |= {str(name): str(path) for name, path in programs.items()}
    if isinstance(data.get("main"), str):
        found.entries[data["main"]] = "the package's main module"
    for name, script in data.get("scripts", {}).items():
        found.scripts[f"npm run {name}"] = str(script)


def _cargo(found: Manifest, text: str) -> None:
    data = parse_toml(text)
    _read_names(found, data.get("package", {}))
    if needs := list(data.get("dependencies", {})):
        found.needs["Cargo.toml"] = needs
    found.entries |= {str(each.get("name")): str(each.get("path", "")) for each in data.get("bin", [])}


def _go(found: Manifest, text: str) -> None:
    if module := re.search(r"^module\s+(\S+)", text, re.MULTILINE):
        found.name = found.name or module[1]
    needs = re.findall(r"^[ \t]*(?:require[ \t]+)?([\w.-]+\.[\w./-]+)[ \t]+v\S+[ \t]*$", text, re.MULTILINE)
    if needs:
        found.needs["go.mod"] = needs


def _makefile(found: Manifest, text: str) -> None:
    for target in re.findall(r"^([A-Za-z][\w-]*):(?!=)", text, re.MULTILINE):
        found.scripts.setdefault(f"make {target}", "")


def _requirements(found: Manifest, text: str) -> None:
    if "pyproject.toml" not in found.needs:
        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
        needs = [_package_name(line) for line in lines if line and not line.startswith("-")]
        if needs:
            found.needs["requirements.txt"] = needs


def _package_name(requirement: str) -> str:
    return re.split(r"[\s<>=!~;\[@]", requirement.strip(), maxsplit=1)[0]
