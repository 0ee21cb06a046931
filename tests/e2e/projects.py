"""Two small projects, one in Python and one in TypeScript, as people write them."""

import sys
from pathlib import Path

SHOP = {
    "pyproject.toml": '''\
[project]
name = "shop"
version = "1"

[tool.ruff]
line-length = 100

[tool.pytest.ini_options]
pythonpath = ["."]
''',
    "shop/__init__.py": "from .cart import Cart, load_user\n\n__all__ = [\"Cart\", \"load_user\"]\n",
    "shop/cart.py": '''\
import json
import os
from dataclasses import dataclass, field

from shop.money import rounded


@dataclass
class Cart:
    owner: str
    items: list[float] = field(default_factory=list)

    def total(self) -> float:
        return rounded(sum(self.items))

    def receipt(self) -> str:
        return f"{self.owner}: {self.total()} (total)"


def load_user(id, names):
    """The name that belongs to an id."""
    return {"id": id, "name": names[id]}


def find_order(id, orders):
    return [order for order in orders if order["id"] == id]


def a_day_later(moment):
    return moment + 86400


def parse_line(line: str) -> list[str]:
    return json.loads(line) if line.startswith("[") else line.split(",")
''',
    "shop/money.py": "def rounded(amount: float) -> float:\n    return round(amount, 2)\n",
    "shop/report.py": '''\
from shop import Cart, load_user
from shop.cart import a_day_later, find_order


def report(cart: Cart, other):
    user = load_user(id=1, names={1: cart.owner})
    found = find_order(id=1, orders=[{"id": 1}])
    return user["name"], cart.total(), other.total(), len(found), a_day_later(0)
''',
    "tests/test_shop.py": '''\
from shop.cart import Cart, parse_line
from shop.report import report


def test_a_report_names_the_owner():
    cart = Cart(owner="Ada", items=[1.234, 2])
    assert report(cart, cart) == ("Ada", 3.23, 3.23, 1, 86400)
    assert cart.receipt() == "Ada: 3.23 (total)"


def test_a_line_is_split():
    assert parse_line("a,b") == ["a", "b"]
''',
}  # fmt: skip
LEDGER = {
    "package.json": '{"name": "ledger", "type": "module", "private": true}\n',
    "tsconfig.json": (
        '{"compilerOptions": {"strict": true, "noEmit": true, "module": "esnext", "moduleResolution": "bundler", '
        '"target": "es2022", "jsx": "preserve", "noUnusedLocals": false, "types": []}, "include": ["src"]}\n'
    ),
    "src/entry.ts": '''\
import { cents, unused } from "./money";

export interface Entry {
  id: string;
  amount: number;
}

export function total(entries: Entry[]): number {
  return entries.map(({ amount }) => cents(amount)).reduce((sum, each) => sum + each, 0);
}

export class Ledger {
  private entries: Entry[] = [];

  add(id: string, amount: number): Entry {
    const entry: Entry = { id, amount };
    this.entries.push(entry);
    return entry;
  }

  total(): number {
    return total(this.entries);
  }
}
''',
    "src/money.ts": (
        "export function cents(amount: number): number {\n  return amount * 100;\n}\n\nexport const unused = 1;\n"
    ),
    "src/index.ts": 'export { Ledger, total } from "./entry";\nexport * from "./money";\n',
    "src/app.ts": '''\
import * as entries from "./entry";
import { Ledger, total } from "./index";

const ledger = new Ledger();
ledger.add("a", 1.5);
export const shown = `total ${ledger.total()} ${total([])} ${entries.total([])}`;
''',
}  # fmt: skip


def written(project: dict[str, str], workspace: Path) -> dict[str, bytes]:
    for path, content in project.items():
        place = workspace / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")
    return contents(workspace)


def contents(workspace: Path) -> dict[str, bytes]:
    """Every file that somebody wrote."""
    made = {".pytest_cache", "__pycache__", "node_modules", ".ruff_cache"}
    found = (path for path in workspace.rglob("*") if path.is_file() and not made & set(path.parts))
    return {path.relative_to(workspace).as_posix(): path.read_bytes() for path in found}


def with_programs(workspace: Path, *names: str) -> None:
    """Give the project an environment of its own, with these programs of the test environment."""
    programs = workspace / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", *names):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.prefix}/bin/{name} "$@"\n')
        (programs / name).chmod(0o755)
