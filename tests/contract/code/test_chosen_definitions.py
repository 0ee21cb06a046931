"""Which definition a bare name means, and what imports a Go file."""

import pytest

from tests.support.workbench import Workbench
from tools.ledger import Outcome


async def described(bench: Workbench, symbol: str) -> str:
    return (await bench.call("describe_symbol", symbol=symbol)).summary


async def test_a_public_function_is_meant_before_a_method_of_its_name(bench: Workbench) -> None:
    bench.write("web/app.py", "class App:\n    def url_for(self, name):\n        return name\n")
    bench.write("web/helpers.py", "from web.app import App\n\n\ndef url_for(name):\n    return App().url_for(name)\n")
    assert await described(bench, "url_for") == "function url_for, web/helpers.py:4"
    assert await described(bench, "App.url_for") == "method App.url_for, web/app.py:2"


@pytest.mark.parametrize("copy", ["tool/_vendor/version.py", "vendor/version.py", "tool/version.pyi", "a/_inner.py"])
async def test_a_copy_a_stub_and_a_private_module_are_meant_last(bench: Workbench, copy: str) -> None:
    bench.write(copy, "def parse_version(text): ...\n")
    bench.write("tool/versions.py", "def parse_version(text):\n    return text.split('.')\n")
    bench.write("tool/main.py", "from tool.versions import parse_version\n\nLATEST = parse_version('1.2')\n")
    outcome = await bench.call("find_usages", symbol="parse_version")
    assert outcome.content.startswith("`parse_version` — function, `tool/versions.py:1`")
    assert "`tool/main.py:3`" in outcome.content


async def test_a_name_that_only_a_copy_defines_is_reported_as_such(bench: Workbench) -> None:
    bench.write("tool/_vendor/version.py", "def parse_version(text): ...\n")
    for tool in ("find_usages", "describe_symbol"):
        outcome = await bench.call(tool, symbol="parse_version")
        assert "in a copy of another project's code; this project itself defines none" in outcome.content


async def test_a_go_file_is_imported_by_the_importers_of_its_package_only(bench: Workbench) -> None:
    bench.write("go.mod", "module example.com/shop\n")
    bench.write("errors.go", "package shop\n\nvar Bad = 1\n")
    bench.write("shop.go", '/*\n\timport shop "example.com/shop"\n*/\npackage shop\n\nimport (\n\t"errors"\n)\n')
    bench.write("shop_test.go", 'package shop_test\n\nimport (\n\t"example.com/shop"\n)\n')
    bench.write("cmd/main.go", 'package main\n\nimport (\n\t"example.com/shop"\n)\n')
    outcome = await bench.call("find_usages", symbol="errors.go")
    assert isinstance(outcome.details, dict) and isinstance(outcome.details["importers"], list)
    importers = [each["path"] for each in outcome.details["importers"] if isinstance(each, dict)]
    assert sorted(map(str, importers)) == ["cmd/main.go", "shop_test.go"]
    assert "the 2 other files of its package (1 without the tests) can use it without an import" in outcome.content


async def test_a_definition_is_meant_before_its_overloads(bench: Workbench) -> None:
    overload = "    @t.overload\n    def invoke(self, given: {}) -> None: ...\n\n"
    body = "    def invoke(self, given):\n        return given\n"
    bench.write(
        "context.py",
        f"import typing as t\n\n\nclass Context:\n{overload.format('int')}{overload.format('str')}{body}",
    )
    assert await described(bench, "Context.invoke") == "method Context.invoke, context.py:11"


def usages_of(outcome: Outcome) -> list[str]:
    assert isinstance(outcome.details, dict) and isinstance(outcome.details["usages"], list)
    return sorted(f"{each['path']}:{each['line']}" for each in outcome.details["usages"] if isinstance(each, dict))


async def test_a_go_function_is_used_by_its_package_and_where_the_package_qualifies_it(bench: Workbench) -> None:
    bench.write("go.mod", "module example.com/shop\n")
    bench.write("store/fs.go", "package store\n\nfunc New() int { return 1 }\n\nfunc Old() int { return New() }\n")
    bench.write("cart/cart.go", "package cart\n\nfunc New() int { return 2 }\n\nvar One = New()\n")
    used = 'package main\n\nimport (\n\t"example.com/shop/cart"\n\tdisk "example.com/shop/store"\n)\n\n'
    bench.write("main.go", f"{used}var A = disk.New()\n\nvar B = cart.New()\n")
    bench.write("store/fs_test.go", 'package store_test\n\nimport "example.com/shop/store"\n\nvar T = store.New()\n')
    outcome = await bench.call("find_usages", symbol="store.New")
    assert outcome.content.startswith("`New` — function, `store/fs.go:3`")
    assert usages_of(outcome) == ["main.go:8", "store/fs.go:5", "store/fs_test.go:5"]
    assert usages_of(await bench.call("find_usages", symbol="cart.New")) == ["cart/cart.go:5", "main.go:10"]


async def test_a_name_of_a_package_is_found_in_the_module_that_it_re_exports(bench: Workbench) -> None:
    bench.write("src/shop/__init__.py", "from .cart import total as total\n\n\ndef pay(): ...\n")
    bench.write("src/shop/cart.py", "def total(): ...\n\n\nclass Cart:\n    def empty(self): ...\n")
    assert await described(bench, "shop.total") == "function total, src/shop/cart.py:1"
    assert await described(bench, "shop.pay") == "function pay, src/shop/__init__.py:4"
    assert (await bench.call("describe_symbol", symbol="shop.empty")).status == "error"
    assert (await bench.call("describe_symbol", symbol="requests.total")).status == "error"


async def test_who_imports_a_module_is_reported_by_its_name(bench: Workbench) -> None:
    bench.write("shop/__init__.py", "")
    bench.write("shop/_compat.py", "WIN = False\n")
    bench.write("shop/docutils.py", "from docutils import nodes\n")
    bench.write("shop/app.py", "from ._compat import WIN\n")
    outcome = await bench.call("find_usages", symbol="_compat")
    assert outcome.content.startswith("`shop/_compat.py`") and "`shop/app.py`" in outcome.content
    # A package of that name is imported, too.
    assert (await bench.call("find_usages", symbol="docutils")).error is not None


async def test_who_imports_a_go_package_is_reported_by_its_folder_or_its_name(bench: Workbench) -> None:
    bench.write("go.mod", "module example.com/shop\n")
    bench.write("store/page/page.go", "package page\n\nvar One = 1\n")
    bench.write("store/page/more.go", "package page\n\nvar Two = 2\n")
    bench.write("main.go", 'package main\n\nimport "example.com/shop/store/page"\n\nvar A = page.One\n')
    for name in ("store/page", "page"):
        outcome = await bench.call("find_usages", symbol=name)
        assert outcome.content == "`store/page`\n\n**Imported by** (1):\n- `main.go`"


async def test_classes_that_name_a_base_are_reported_as_such(bench: Workbench) -> None:
    bench.write("shop.py", "class Base: ...\n\n\nclass Cart(Base): ...\n\n\nONE = Base()\n")
    outcome = await bench.call("find_usages", symbol="Base")
    assert isinstance(outcome.details, dict) and isinstance(outcome.details["usages"], list)
    found = [(each["within"], each["kind"]) for each in outcome.details["usages"] if isinstance(each, dict)]
    assert found == [("Cart", "base"), ("", "call")]


async def test_the_lines_of_a_folder_are_those_of_all_its_files(bench: Workbench) -> None:
    for number in range(205):
        bench.write(f"src/m{number}.py", "ONE = 1\nTWO = 2\n")
    bench.write("src/notes.md", "# Notes\n")
    outcome = await bench.call("describe_file", path="src")
    assert outcome.content.startswith("**`src/`** holds 206 files, 205 of them code (410 lines).")
    assert isinstance(outcome.details, dict) and outcome.details["lines"] == 411
    assert outcome.details["languages"] == {"Python": 410}
    assert outcome.details["languageFiles"] == {"Python": 205}


async def test_a_go_method_is_named_with_its_type(bench: Workbench) -> None:
    bench.write("a.go", "package a\n\ntype List[T any] struct{}\n\nfunc (l *List[T]) Len() int { return 0 }\n")
    bench.write("b.go", "package a\n\ntype Map struct{}\n\nfunc (Map) Len() int { return 1 }\n")
    assert await described(bench, "List.Len") == "method List.Len, a.go:5"
    assert await described(bench, "Map.Len") == "method Map.Len, b.go:5"
