"""The software bill of materials of a release, as CycloneDX JSON, from the lock files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def bill_of_materials(root: Path, version: str, made_at: str) -> dict[str, Any]:
    components = [*_python(root / "packaging/lock/runtime.txt"), *_javascript(root / "frontend/package-lock.json")]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": made_at,
            "component": {"type": "application", "name": "rainy-brain", "version": version},
        },
        "components": sorted(components, key=lambda each: str(each["bom-ref"])),
    }


def _python(lock: Path) -> Iterator[dict[str, Any]]:
    for name, version in _PINNED.findall(lock.read_text(encoding="utf-8")):
        yield _component(name, version, f"pkg:pypi/{name.lower()}@{version}")


def _javascript(lock: Path) -> Iterator[dict[str, Any]]:
    """What the panel carries: its build tools stay on the machine that builds it."""
    packages: dict[str, dict[str, Any]] = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    for path, package in packages.items():
        name = path.rpartition("node_modules/")[2]
        if "node_modules/" not in path or package.get("dev") or package.get("link") or "version" not in package:
            continue
        purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
        yield _component(name, package["version"], purl, package.get("license"))


def _component(name: str, version: str, purl: str, spdx: str | None = None) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
    }
    return component | ({"licenses": [{"expression": spdx}]} if spdx else {})
