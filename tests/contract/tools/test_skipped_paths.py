"""What programs leave behind or install is no part of a project, with and without Git."""

import json
import subprocess
from typing import Any

import pytest

from tests.support.workbench import Workbench

_NOISE = (
    "node_modules/left/index.js",
    "node_modules/.cache/babel/x.js",
    ".venv/lib/python3.12/site-packages/pkg/a.py",
    "venv/bin/tool.py",
    "target/debug/build.py",
    "dist/bundle.js",
    "packages/web/node_modules/left/index.js",
    "packages/web/dist/bundle.js",
    "build/lib/shop/cart.py",
    "app/__pycache__/cart.cpython-312.pyc",
    ".pytest_cache/v/cache/nodeids.py",
    ".mypy_cache/3.12/a.py",
    ".ruff_cache/0.1/a.py",
    ".coverage",
    ".coverage.host.123",
)
_SOURCE = (
    "shop/cart.py",
    "packages/web/index.js",
    "packages/web/package.json",
    "shop/build/steps.py",
    "cmd/dist/main.py",
)


@pytest.fixture(params=[True, False], ids=["git", "no git"])
def project(bench: Workbench, request: pytest.FixtureRequest) -> Workbench:
    if request.param:
        subprocess.run(["git", "init", "-q", bench.workspace], check=True)
    for path in _NOISE + _SOURCE:
        bench.write(path, '{"name": "total"}\n' if path.endswith(".json") else "total = 1\n")
    return bench


def _details(outcome: Any) -> Any:
    assert outcome.status == "success", outcome.content
    return outcome.details


async def test_find_files_lists_no_installed_or_generated_file(project: Workbench) -> None:
    assert sorted(_details(await project.call("find_files", pattern="*"))["paths"]) == sorted(_SOURCE)


async def test_a_search_finds_no_installed_or_generated_file(project: Workbench) -> None:
    found = _details(await project.call("search_code", query="total"))["matches"]
    assert sorted(each["path"] for each in found) == sorted(_SOURCE)
    found = _details(await project.call("search_code", query="total", glob="**/*.js"))["matches"]
    assert [each["path"] for each in found] == ["packages/web/index.js"]


async def test_the_tree_shows_no_installed_or_generated_file(project: Workbench) -> None:
    assert sorted(_details(await project.call("read_directory_tree", depth=9))["paths"]) == sorted(_SOURCE)


async def test_symbols_come_from_the_project(project: Workbench) -> None:
    project.write("node_modules/left/index.js", "function total() {}\n")
    project.write("shop/cart.py", "def total(): ...\n")
    found = _details(await project.call("find_symbols", query="total"))["symbols"]
    assert {each["path"] for each in found} <= set(_SOURCE)


async def test_a_review_skips_installed_and_generated_files(project: Workbench) -> None:
    for path in _NOISE:
        project.write(path, "<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    whole = _details(await project.call("review_changes", paths=["."]))
    assert not {each["path"] for each in whole["findings"]} & set(_NOISE)
    if (project.workspace / ".git").exists():
        changes = _details(await project.call("review_changes"))
        assert not {each["path"] for each in changes["findings"]} & set(_NOISE)


async def test_a_path_that_names_them_still_works(project: Workbench) -> None:
    inside = _details(await project.call("find_files", pattern="*", path="node_modules"))["paths"]
    assert "node_modules/left/index.js" in inside
    named = _details(await project.call("find_files", pattern="node_modules/**/*.js"))["paths"]
    assert "node_modules/left/index.js" in named
    assert _details(await project.call("find_files", pattern="dist/*.js"))["paths"] == ["dist/bundle.js"]
    hits = _details(await project.call("search_code", query="total", path="dist"))["matches"]
    assert [each["path"] for each in hits] == ["dist/bundle.js"]
    hits = _details(await project.call("search_code", query="total", path="packages/web/dist/bundle.js"))["matches"]
    assert [each["path"] for each in hits] == ["packages/web/dist/bundle.js"]
    hits = _details(await project.call("search_code", query="total", glob="node_modules/**"))["matches"]
    assert "node_modules/left/index.js" in {each["path"] for each in hits}
    tree = _details(await project.call("read_directory_tree", path="node_modules"))["paths"]
    assert tree == ["node_modules/left/index.js"]
    project.write("dist/bundle.js", "<<<<<<< ours\n=======\n>>>>>>> theirs\n")
    found = _details(await project.call("review_changes", paths=["dist"]))["findings"]
    assert {each["path"] for each in found} == {"dist/bundle.js"}


async def test_ignored_files_stay_out_of_a_search_for_source(bench: Workbench) -> None:
    bench.write(".gitignore", "generated.py\n")
    bench.write("generated.py", "def total(): ...\n")
    bench.write("cart.py", "def total(): ...\n")
    outcome = await bench.call("rename_symbol", path="cart.py", symbol="total", newName="amount")
    assert outcome.status == "success", outcome.content
    assert bench.read("generated.py") == b"def total(): ...\n"


async def test_a_command_that_writes_caches_changes_nothing(project: Workbench) -> None:
    project.write("node_modules/left/index.js", "1\n")
    (project.workspace / ".gitignore").write_text(".coverage\n*.pyc\n")
    script = (
        "import pathlib\n"
        "for each in ('.coverage', '.coverage.a.1', 'shop/a.pyc', 'shop/__pycache__/b.pyc', '.eslintcache',\n"
        "             '.pytest_cache/x', 'node_modules/.cache/y', 'node_modules/.vite/z', 'htmlcov/index.html'):\n"
        "    path = pathlib.Path(each)\n"
        "    path.parent.mkdir(parents=True, exist_ok=True)\n"
        "    path.write_text('cache')\n"
    )
    project.write("make_caches.py", script)
    outcome = await project.call("run_command", command="python3 make_caches.py")
    assert outcome.status == "success", outcome.content
    assert outcome.files == []
    assert outcome.irreversible == []
    if (project.workspace / ".git").exists():
        states = _details(await project.call("git_status"))["changes"]
        assert not [each for each in states if "cache" in each["path"] and each["path"] != "make_caches.py"]


async def test_an_installed_package_is_a_change_that_is_named(bench: Workbench) -> None:
    bench.write("node_modules/left/index.js", "1\n")
    outcome = await bench.call("run_command", command="mkdir node_modules/right; echo 1 > node_modules/right/index.js")
    assert [each.path for each in outcome.irreversible] == ["node_modules/"], json.dumps(outcome.details)
