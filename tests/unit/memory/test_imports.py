"""Import statements, also odd ones: no file may stop the index of its whole workspace."""

from sidecar.memory.chunks import cut
from sidecar.memory.imports import ImportRow, imports_of
from tools.code.source import SourceText

BROKEN = ("import", "import * as", "export * from", "use ::{", "import (", "#include", "from . import (", "\0")


def rows(path: str, text: str) -> list[ImportRow]:
    source = SourceText(path, text.encode())
    return imports_of(source, cut(source).imports)


def test_a_namespace_export_without_a_plain_name_is_read() -> None:
    assert [row.module for row in rows("a.ts", 'export * as default from "./b"\nexport * as "x y" from "./c"\n')] == [
        "./b",
        "./c",
    ]


def test_the_members_of_a_module_come_with_their_first_lines() -> None:
    text = "import os\nimport sys as system\n\nos.walk('.')\nsystem.exit()\nkiosk.close()\nself.os.rename\nos.walk()\n"
    members = {(row.alias, row.member): row.line for row in rows("a.py", text) if row.member}
    assert members == {("os", "walk"): 4, ("system", "exit"): 5}


def test_broken_sources_of_every_language_are_read_without_an_error() -> None:
    for path in ("a.py", "a.ts", "a.tsx", "a.js", "a.go", "a.rs", "a.java", "a.c", "a.cpp"):
        for text in (
            "import",
            "import * as",
            "export * from",
            "use ::{",
            "import (",
            "#include",
            "from . import (",
            "\0",
        ):
            rows(path, text)
