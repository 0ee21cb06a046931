"""Writes what is made from the wire types: the OpenAPI document and the TypeScript types.

`python packaging/generate.py` writes them; with `--check` it only says, by its exit code, whether they are up to date.
"""

import json
import sys
from pathlib import Path

from typescript import commands, typescript

from sidecar.api.openapi import document

ROOT = Path(__file__).parent.parent


def generated() -> dict[Path, str]:
    described = document()
    return {
        ROOT / "frontend" / "openapi.json": json.dumps(described, indent=2, ensure_ascii=False) + "\n",
        ROOT / "frontend" / "src" / "wire" / "types.ts": typescript(described["components"]["schemas"]),
        ROOT / "frontend" / "src" / "wire" / "commands.ts": commands(),
    }


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = [
        (path, text)
        for path, text in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if check:
            print(f"{path.relative_to(ROOT)} differs from the wire types; run `make generate`.", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
