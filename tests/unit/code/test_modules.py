"""Which file an import means, for the tools that explain code and for those that change it."""

import pytest

from tools.code.modules import Modules

PYTHON = Modules(
    [
        "a/__init__.py",
        "a/b.py",
        "a/c.py",
        "a/json.py",
        "d.py",
        "s/x.py",
        "s/y.py",
        "src/p/q.py",
        "t/test_p.py",
        "n/deep/m.py",
        "kit/python/far/away.py",
        "one/twice/same.py",
        "two/twice/same.py",
        "mono/core/src/core/__init__.py",
        "mono/core/tests/test_c.py",
        "stub/typed.pyi",
    ]
)
SCRIPT = Modules(
    [
        "src/app.ts",
        "src/ui/index.tsx",
        "src/ui/button.tsx",
        "src/old.js",
        "src/types.d.ts",
        "src/look.css",
        "web/src/page.ts",
        "web/src/lib/x.ts",
        "web/tests/page.test.ts",
        "server/app/main.mts",
        "data.json",
    ]
)


@pytest.mark.parametrize(
    ("importer", "module", "file"),
    [
        ("a/b.py", ".c", "a/c.py"),
        ("a/b.py", ".", "a/__init__.py"),
        ("a/b.py", "..d", "d.py"),
        ("a/b.py", "...d", None),
        ("a/b.py", "a.c", "a/c.py"),
        ("a/b.py", "c", None),
        ("a/b.py", "json", None),
        ("a/b.py", "d", "d.py"),
        ("s/x.py", "y", "s/y.py"),
        ("t/test_p.py", "p.q", "src/p/q.py"),
        ("t/test_p.py", "far.away", "kit/python/far/away.py"),
        ("t/test_p.py", "twice.same", None),
        ("mono/core/tests/test_c.py", "core", "mono/core/src/core/__init__.py"),
        ("d.py", "stub.typed", "stub/typed.pyi"),
        ("d.py", "n.deep", None),
    ],
)
def test_a_python_import_means_a_file_of_the_project_or_nothing(importer: str, module: str, file: str | None) -> None:
    assert PYTHON.python(module, importer) == file


def test_a_folder_without_an_init_is_a_package_for_who_asks_for_one() -> None:
    assert PYTHON.package("n.deep", "d.py") == "n/deep/"
    assert PYTHON.package("a", "d.py") == "a/__init__.py"
    assert PYTHON.submodule("n/deep/", "m") == "n/deep/m.py"
    assert PYTHON.submodule("n/", "deep") == "n/deep/"
    assert PYTHON.submodule("d.py", "x") is None
    assert PYTHON.package("os.path", "d.py") is None


def test_a_file_is_imported_by_its_name_from_its_outermost_package_on() -> None:
    names = {path: PYTHON.python_name(path) for path in ("a/b.py", "a/__init__.py", "s/x.py", "d.py")}
    assert list(names.values()) == ["a.b", "a", "x", "d"]
    assert PYTHON.python_name("mono/core/src/core/__init__.py") == "core"


@pytest.mark.parametrize(
    ("importer", "module", "file"),
    [
        ("src/app.ts", "./ui", "src/ui/index.tsx"),
        ("src/app.ts", "./ui/button", "src/ui/button.tsx"),
        ("src/app.ts", "./ui/button.js", "src/ui/button.tsx"),
        ("src/app.ts", "./old.js", "src/old.js"),
        ("src/app.ts", "./types", "src/types.d.ts"),
        ("src/app.ts", "./look.css?inline", "src/look.css"),
        ("src/app.ts", "../data.json", "data.json"),
        ("src/ui/index.tsx", "@/app", "src/app.ts"),
        ("web/src/page.ts", "@/lib/x", "web/src/lib/x.ts"),
        ("web/tests/page.test.ts", "~/page", "web/src/page.ts"),
        ("web/tests/page.test.ts", "src/lib/x.js", "web/src/lib/x.ts"),
        ("server/app/main.mts", "@/main.mjs", "server/app/main.mts"),
        ("src/app.ts", "react", None),
        ("src/app.ts", "./nowhere", None),
        ("src/app.ts", "..", None),
    ],
)
def test_a_script_import_means_a_file_of_the_project_or_nothing(importer: str, module: str, file: str | None) -> None:
    assert SCRIPT.script(module, importer) == file


@pytest.mark.timeout(5)
def test_a_path_from_the_root_has_an_end() -> None:
    modules = Modules({"/a/b.py", "c.py"})
    assert modules.python("nowhere", "/a/b.py") is None
    assert modules.script("@/nowhere", "/a/b.ts") is None
