"""Writes the generated files: the OpenAPI document, the TypeScript types and each REFERENCE.md.

`python packaging/generate.py` writes them; with `--check` it fails if one is out of date.
"""

import json
import sys
from pathlib import Path

import reference
from typescript import commands, typescript

from sidecar.api.openapi import document
from tools.builtin import LOADERS, OFFERS

ROOT = Path(__file__).parent.parent


def generated() -> dict[Path, str]:
    described = document()
    wire = ROOT / "frontend" / "src" / "wire"
    return {
        ROOT / "frontend" / "openapi.json": json.dumps(described, indent=2, ensure_ascii=False) + "\n",
        wire / "types.ts": typescript(described["components"]["schemas"]),
        wire / "commands.ts": commands(),
        ROOT / "sidecar" / "commands" / "REFERENCE.md": reference.commands(),
        ROOT / "sidecar" / "config" / "REFERENCE.md": reference.settings(),
        ROOT / "sidecar" / "api" / "REFERENCE.md": reference.api(),
        OFFERS: offers(),
    }


def offers() -> str:
    """What models see of each tool, one a line."""
    found = {name: load().spec.offer().model_dump() for name, load in LOADERS.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(offer, ensure_ascii=False)}" for name, offer in found.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = [
        (path, text)
        for path, text in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if check:
            print(f"{path.relative_to(ROOT)} is out of date; run `make generate`.", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"Wrote {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
