"""Moving a symbol: its text, what it needs, who uses it, and what prevents it."""

import pytest

from tests.unit.code.rename_helpers import project_of
from tools.code.move import plan_move
from tools.code.project import Refusal

SOURCE = '''\
"""Parsing."""

import json
import re
from os import path as paths
from . import words

LIMIT = 10


# Reads one line.
@words.traced
def parse_line(line: str) -> dict:
    from .deep import tool
    return json.loads(line) if re.match("x", line) else paths.join(tool)


def parse(text):
    return [text for _ in re.findall("x", text)]
'''


def after(files: dict[str, str], name: str, source: str, target: str) -> dict[str, str]:
    done = plan_move(name, source, target, project_of(files))
    return {**files, **{path: content.decode() for path, content in done.contents.items()}}


def test_a_function_moves_with_its_comment_its_decorator_and_the_imports_that_it_needs() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/words.py": "",
        "pkg/deep.py": "",
        "pkg/parsing.py": SOURCE,
        "pkg/sub/__init__.py": "",
        "pkg/sub/lines.py": '"""Lines."""\n\nimport os\n\nHERE = os.getcwd()\n',
        "user.py": "from pkg.parsing import parse, parse_line as p\n\np(parse)\n",
        "tests/test_it.py": (
            "import pkg.parsing\n\n\ndef test():\n    from pkg.parsing import parse_line\n"
            "    assert pkg.parsing.parse_line\n"
        ),
    }
    found = after(files, "parse_line", "pkg/parsing.py", "pkg/sub/lines.py")
    assert found["pkg/parsing.py"] == (
        '"""Parsing."""\n\nimport re\n\nLIMIT = 10\n\n\n'
        'def parse(text):\n    return [text for _ in re.findall("x", text)]\n'
    )
    assert found["pkg/sub/lines.py"] == (
        '"""Lines."""\n\nimport json\nimport os\nimport re\nfrom os import path as paths\n\nfrom .. import words\n\n'
        "HERE = os.getcwd()\n\n\n# Reads one line.\n@words.traced\ndef parse_line(line: str) -> dict:\n"
        "    from ..deep import tool\n"
        '    return json.loads(line) if re.match("x", line) else paths.join(tool)\n'
    )
    assert found["user.py"] == (
        "from pkg.parsing import parse\nfrom pkg.sub.lines import parse_line as p\n\np(parse)\n"
    )
    assert found["tests/test_it.py"] == (
        "import pkg.parsing\nimport pkg.sub.lines\n\n\ndef test():\n    from pkg.sub.lines import parse_line\n"
        "    assert pkg.sub.lines.parse_line\n"
    )


def test_a_source_that_still_uses_it_imports_it_and_a_new_file_is_made() -> None:
    files = {"a.py": "def one():\n    return 1\n\n\ndef two():\n    return one() + one()\n"}
    assert after(files, "one", "a.py", "b.py") == {
        "a.py": "from b import one\n\n\ndef two():\n    return one() + one()\n",
        "b.py": "def one():\n    return 1\n",
    }


TIME = '''\
"""Times."""

from __future__ import annotations

__lazy_modules__ = {"humanize.i18n"}

from enum import Enum
from functools import total_ordering

from .i18n import _ngettext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


@total_ordering
class Unit(Enum):
    def __lt__(self, other: Any) -> bool:
        return self.value < other.value


def smallest(units: Iterable[Unit]) -> Unit:
    return min(units)


def tell(unit: Unit, units: Iterable[Unit]) -> str:
    return _ngettext(unit, smallest(units))
'''


def test_imports_stay_sorted_joined_and_guarded_as_they_were() -> None:
    files = {"p/__init__.py": "", "p/i18n.py": "def _ngettext(*_): ...\n", "p/time.py": TIME}
    first = after(files, "Unit", "p/time.py", "p/_units.py")
    assert first["p/_units.py"] == (
        "from __future__ import annotations\n\nfrom enum import Enum\nfrom functools import total_ordering\n"
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from typing import Any\n\n\n"
        "@total_ordering\nclass Unit(Enum):\n    def __lt__(self, other: Any) -> bool:\n"
        "        return self.value < other.value\n"
    )
    second = after(first, "smallest", "p/time.py", "p/_units.py")
    assert second["p/time.py"] == (
        '"""Times."""\n\nfrom __future__ import annotations\n\n__lazy_modules__ = {"humanize.i18n"}\n\n'
        "from ._units import Unit, smallest\nfrom .i18n import _ngettext\n\n"
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from collections.abc import Iterable\n\n\n"
        "def tell(unit: Unit, units: Iterable[Unit]) -> str:\n    return _ngettext(unit, smallest(units))\n"
    )
    assert (
        "if TYPE_CHECKING:\n    from collections.abc import Iterable\n    from typing import Any\n\n"
        in second["p/_units.py"]
    )


def test_a_target_that_imported_it_has_it_now() -> None:
    files = {
        "a.py": "KEY = 'k'\nrest = 1\n",
        "b.py": "import os\nfrom a import KEY, rest\n\nprint(KEY, rest, os)\n",
        "p.py": "from a import KEY\n",
    }
    assert after(files, "KEY", "a.py", "b.py") == {
        "a.py": "rest = 1\n",
        "b.py": "import os\nfrom a import rest\n\nKEY = 'k'\n\nprint(KEY, rest, os)\n",
        "p.py": "from b import KEY\n",
    }


def test_what_was_handed_on_by_the_package_still_is() -> None:
    files = {
        "p/__init__.py": "from .a import one\n",
        "p/a.py": "def one(): ...\n",
        "p/b.py": "",
        "u.py": "from p import one\none()\n",
    }
    assert after(files, "one", "p/a.py", "p/b.py") == {
        **files,
        "p/__init__.py": "from .b import one\n",
        "p/a.py": "",
        "p/b.py": "def one(): ...\n",
    }


def test_the_same_in_a_script() -> None:
    files = {
        "src/a.ts": (
            "import fs from 'fs';\nimport { help } from './lib/help';\n\n/** Loads. */\nfunction load(x: number) {\n"
            "  return help(fs, x);\n}\n\nexport function run() {\n  return load(1);\n}\n"
        ),
        "src/lib/help.ts": "export const help = 1;\n",
        "src/deep/b.ts": "import { q } from 'q';\n\nexport const z = q;\n",
        "src/c.ts": "import { run } from './a';\nrun();\n",
    }
    found = after(files, "load", "src/a.ts", "src/deep/b.ts")
    assert found["src/a.ts"] == ("import { load } from './deep/b';\n\nexport function run() {\n  return load(1);\n}\n")
    assert found["src/deep/b.ts"] == (
        "import { q } from 'q';\nimport fs from 'fs';\nimport { help } from '../lib/help';\n\nexport const z = q;\n\n\n"
        "/** Loads. */\nexport function load(x: number) {\n  return help(fs, x);\n}\n"
    )


def test_who_imports_from_a_script_imports_from_the_other_one() -> None:
    files = {
        "a.ts": "export type T = 1;\nexport const k: T = 1;\nexport const u = 2;\n",
        "b.ts": (
            "import type { T } from './a';\nimport { k, u } from './a';\nexport { u as v } from './a';\n"
            "let t: T = k + u;\n"
        ),
    }
    assert after(files, "u", "a.ts", "c.ts") == {
        "a.ts": "export type T = 1;\nexport const k: T = 1;\n",
        "b.ts": (
            "import type { T } from './a';\nimport { k } from './a';\nimport { u } from './c';\n"
            "export { u as v } from './c';\nlet t: T = k + u;\n"
        ),
        "c.ts": "export const u = 2;\n",
    }


def test_a_new_script_names_its_neighbours_as_the_others_do() -> None:
    files = {
        "src/a.ts": "export function one() { return 1; }\nexport const two = () => one() + one();\n",
        "src/b.ts": 'import { readFile } from "node:fs";\nimport { two } from "./a.ts";\ntwo(readFile);\n',
    }
    found = after(files, "two", "src/a.ts", "src/c.ts")
    assert found["src/c.ts"].startswith('import { one } from "./a.ts";\n')
    assert 'from "./c.ts";' in found["src/b.ts"]


@pytest.mark.parametrize(
    ("files", "code", "said"),
    [
        ({"a.py": "def two(): ...\n", "b.py": ""}, "no_match", "a.py has no one"),
        ({"a.py": "def one(): ...\n", "b.py": "one = 1\n"}, "name_taken", "b.py:1 already has a one"),
        ({"a.py": "k = 1\ndef one(): return k\none()\n", "b.py": ""}, "would_cycle", "import each other"),
        ({"a.py": "k = 1\ndef one(): return k\nimport b\n", "b.py": ""}, "would_cycle", "b.py would import a.py"),
        ({"a.py": "def one(): ...\none()\n", "b.py": "import c\n", "c.py": "import a\n"}, "would_cycle", "a cycle"),
        (
            {"a.py": "def one(): ...\n", "b.py": "import c\n", "c.py": "from a import one\n"},
            "would_cycle",
            "c.py would",
        ),
        ({"a.py": "import os as k\ndef one(): return k\n", "b.py": "k = 1\n"}, "name_taken", "b.py:1 has another k"),
        ({"a.py": "if x:\n    def one(): ...\n", "b.py": ""}, "no_match", "not a statement of its own"),
        ({"a.py": "one = 1\none = 2\n", "b.py": ""}, "ambiguous", "lines 1, 2"),
        ({"a.py": "one = 1\n", "b.ts": ""}, "unknown_language", "must both be Python"),
    ],
)
def test_what_is_refused(files: dict[str, str], code: str, said: str) -> None:
    target = "b.ts" if "b.ts" in files else "b.py"
    with pytest.raises(Refusal) as refused:
        plan_move("one", "a.py", target, project_of(files))
    assert refused.value.code == code
    assert said in refused.value.message
