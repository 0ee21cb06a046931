"""Which definition a bare name means, and what imports a Go file."""

import pytest

from tests.support.workbench import Workbench


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


async def test_a_name_that_only_a_copy_defines_is_told_as_such(bench: Workbench) -> None:
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
