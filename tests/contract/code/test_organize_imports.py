"""The tool that organizes imports: what it takes away, what it dares not, and the order it leaves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.workbench import Workbench


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os, sys\nprint(sys)\n", "import sys\nprint(sys)\n"),
        ("import os\nimport a.b\nx = 1\n", "x = 1\n"),
        ("from m import (\n    a,\n    b,  # why b\n    c,\n)\na(c)\n", "from m import (\n    a,\n    c,\n)\na(c)\n"),
        ("from m import (\n    a,\n    b,\n)\na()\n", "from m import (\n    a,\n)\na()\n"),
        ("from m import a as x, b as y\nx()\n", "from m import a as x\nx()\n"),
        ("import os\r\nimport sys\r\nprint(sys)\r\n", "import sys\r\nprint(sys)\r\n"),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from m import T\n    from n import U\nx = 1\n",
            "x = 1\n",
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from m import T\n    from n import U\nx: 'U'\n",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from n import U\nx: 'U'\n",
        ),
    ],
)
async def test_what_nothing_reads_is_removed(bench: Workbench, before: str, after: str) -> None:
    bench.write("a.py", before)
    outcome = await bench.call("organize_imports", paths=["a.py"], sort=False)
    assert outcome.status == "success", outcome.content
    assert bench.read("a.py").decode() == after


@pytest.mark.parametrize(
    "text",
    [
        "from __future__ import annotations\n",
        "import os  # noqa: F401\n",
        "from m import a as a\n",
        "from m import *\n",
        "from m import a\n__all__ = ['a']\n",
        "from m import T\nx = []  # type: list[T]\n",
        "from m import T\nx: 'list[T]' = []\n",
        "from typing import cast\nfrom m import T\nx = cast('T', 1)\n",
        'from m import a\ndef f():\n    """\n    >>> a()\n    """\n',
        "try:\n    import yaml\nexcept ImportError:\n    pass\n",
        "import os; x = 1\n",
        "import sys\nif sys.platform == 'win32':\n    import winreg\n",
        "def f():\n    import os\n",
    ],
)
async def test_what_may_be_meant_for_somebody_is_kept(bench: Workbench, text: str) -> None:
    bench.write("a.py", text)
    outcome = await bench.call("organize_imports", sort=False)
    assert bench.read("a.py").decode() == text
    assert outcome.content.startswith("The imports of 1 file are in order.")


async def test_a_package_and_what_others_import_from_here_are_left_as_they_are(bench: Workbench) -> None:
    bench.write("p/__init__.py", "from .m import a\n")
    bench.write("p/m.py", "from os import path, sep\na = 1\n")
    bench.write("user.py", "from p.m import sep\nprint(sep)\n")

    outcome = await bench.call("organize_imports", paths=["p"], sort=False)

    assert bench.read("p/__init__.py") == b"from .m import a\n"
    assert bench.read("p/m.py") == b"from os import sep\na = 1\n"
    assert "Kept: p/m.py: sep, which other files import from there." in outcome.content


UNSORTED = '''\
"""What it is."""

from __future__ import annotations
import sys
from zlib import crc32
# the greatest
import requests
from app.core import b, A, CONST
import os
from . import near
from .. import far
from app import (
    one,
    Two,
)
import json  # for the rest

print(sys, crc32, requests, b, A, CONST, os, near, far, one, Two, json)
'''


async def test_imports_are_sorted_as_ruff_would(bench: Workbench) -> None:
    bench.write("pkg/deep/a.py", UNSORTED)
    bench.write("app/__init__.py", "")
    bench.write("app/core.py", "")
    bench.write(
        "pyproject.toml", '[tool.ruff.lint]\nselect = ["I"]\n[tool.ruff.lint.isort]\nsplit-on-trailing-comma = true\n'
    )

    await bench.call("organize_imports", paths=["pkg/deep/a.py"])

    ours = bench.read("pkg/deep/a.py").decode()
    assert ours.splitlines()[2:21] == [
        "from __future__ import annotations",
        "",
        "import json  # for the rest",
        "import os",
        "import sys",
        "from zlib import crc32",
        "",
        "# the greatest",
        "import requests",
        "",
        "from app import (",
        "    Two,",
        "    one,",
        ")",
        "from app.core import CONST, A, b",
        "",
        "from .. import far",
        "from . import near",
        "",
    ]
    again = await bench.call("organize_imports", paths=["pkg/deep/a.py"])
    assert "are in order" in again.content
    assert bench.read("pkg/deep/a.py").decode() == ours
    ruff = Path(sys.executable).with_name("ruff")
    if ruff.exists():
        checked = subprocess.run(
            [ruff, "check", "--no-cache", "pkg"], cwd=bench.workspace, capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a, { b, c } from 'm';\nb();\n", "import { b } from 'm';\nb();\n"),
        ("import a, { b } from 'm';\na();\n", "import a from 'm';\na();\n"),
        ("import * as n from 'm';\nimport 'effect';\n", "import 'effect';\n"),
        ("import { type T, u as v } from 'm';\nlet x: T;\n", "import { type T } from 'm';\nlet x: T;\n"),
        ("import {\n  a,\n  b,\n} from 'm';\na();\n", "import {\n  a,\n} from 'm';\na();\n"),
        (
            "import React from 'react';\nexport const e = <b />;\n",
            "import React from 'react';\nexport const e = <b />;\n",
        ),
        ("import { T } from 'm';\n/** @type {T} */\nlet x;\n", "import { T } from 'm';\n/** @type {T} */\nlet x;\n"),
        ("// @ts-ignore\nimport { a } from 'm';\n", "// @ts-ignore\nimport { a } from 'm';\n"),
        ("import { a } from 'm';\nexport { a };\n", "import { a } from 'm';\nexport { a };\n"),
    ],
)
async def test_the_same_in_a_script(bench: Workbench, before: str, after: str) -> None:
    bench.write("a.tsx", before)
    await bench.call("organize_imports", sort=False)
    assert bench.read("a.tsx").decode() == after


async def test_a_script_is_sorted_around_what_only_takes_effect(bench: Workbench) -> None:
    bench.write(
        "a.ts",
        "import { z, a } from './z';\nimport { m } from 'm';\nimport fs from 'node:fs';\nimport 'effect';\n"
        "import { y } from '../y';\nimport { b } from 'b';\nf(z, a, m, fs, y, b);\n",
    )
    await bench.call("organize_imports")
    assert bench.read("a.ts").decode() == (
        "import fs from 'node:fs';\nimport { m } from 'm';\nimport { a, z } from './z';\nimport 'effect';\n"
        "import { b } from 'b';\nimport { y } from '../y';\nf(z, a, m, fs, y, b);\n"
    )


async def test_a_file_with_a_syntax_error_is_left_alone_and_said(bench: Workbench) -> None:
    bench.write("a.py", "import os\ndef (\n")
    outcome = await bench.call("organize_imports")
    assert bench.read("a.py") == b"import os\ndef (\n"
    assert "Left alone: a.py, it has a syntax error at line 2." in outcome.content


async def test_a_file_whose_name_is_not_text_is_not_said_to_be_gone(bench: Workbench) -> None:
    (bench.workspace / os.fsdecode(b"bad\xff.py")).write_text("import os\n")
    bench.write("a.py", "import os\n")
    outcome = await bench.call("organize_imports", sort=False)
    assert "bad\ufffd.py, its name is not UTF-8 text." in outcome.content
    assert bench.read("a.py") == b""
