"""The tool that renames: which files it reads, what it writes, and what it says of the rest."""

import os

from tests.support.workbench import Workbench


async def test_it_renames_in_every_file_and_says_where_and_what_it_left_alone(bench: Workbench) -> None:
    bench.write("a.py", "def load():\n    return 1\n")
    bench.write("b.py", "import a\nprint(a.load(), 'load')\n")
    bench.write("broken.py", "from a import load\ndef (\n")
    bench.write("notes.md", "load\n")
    bench.write(".venv/lib/x.py", "from a import load\n")

    outcome = await bench.call("rename_symbol", symbol="load", newName="read")

    assert outcome.status == "success", outcome.content
    assert bench.read("a.py") == b"def read():\n    return 1\n"
    assert bench.read("b.py") == b"import a\nprint(a.read(), 'load')\n"
    assert bench.read("broken.py") == b"from a import load\ndef (\n"
    assert bench.read(".venv/lib/x.py") == b"from a import load\n"
    said = outcome.content.splitlines()
    assert said[0] == "Renamed function load (a.py:1) to read: 2 places in 2 files."
    assert said[1] == "Also named in strings, comments and documents, left alone: b.py:2, notes.md:1."
    assert said[2] == "Left alone: broken.py, it has a syntax error at line 2."
    assert outcome.summary == said[0]


async def test_a_preview_shows_the_diff_and_writes_nothing(bench: Workbench) -> None:
    bench.write("a.py", "def load():\n    return 1\n")

    outcome = await bench.call("rename_symbol", symbol="load", newName="read", preview=True)

    assert outcome.content.startswith("Preview, nothing was written: renaming function load (a.py:1) to read: 1 place")
    assert "-def load():\n+def read():" in outcome.content
    assert bench.read("a.py") == b"def load():\n    return 1\n"


async def test_classes_between_two_that_hold_the_name_are_read_though_they_do_not(bench: Workbench) -> None:
    bench.write("top.py", "class Top:\n    def save(self): ...\n")
    bench.write("middle.py", "from top import Top\nclass Middle(Top): ...\n")
    bench.write("low.py", "from middle import Middle\nclass Low(Middle):\n    def save(self): ...\n")

    outcome = await bench.call("rename_symbol", symbol="Top.save", newName="keep")

    assert "2 places in 2 files" in outcome.content
    assert b"def keep" in bench.read("low.py")


async def test_a_name_that_is_handed_on_by_a_star_is_found(bench: Workbench) -> None:
    bench.write("core.py", "def load(): ...\n")
    bench.write("api.py", "from core import *\n")
    bench.write("app.py", "from api import load\nload()\n")

    await bench.call("rename_symbol", symbol="load", newName="read")

    assert bench.read("app.py") == b"from api import read\nread()\n"


async def test_which_of_several_is_asked_back(bench: Workbench) -> None:
    bench.write("a.py", "def load(): ...\n")
    bench.write("b.py", "class C:\n    def load(self): ...\n")

    outcome = await bench.call("rename_symbol", symbol="load", newName="read")
    assert (outcome.status, outcome.error and outcome.error.code) == ("error", "ambiguous")
    assert "- a.py:1 function load\n- b.py:2 method C.load" in outcome.content

    outcome = await bench.call("rename_symbol", symbol="load", newName="read", path="b.py", line=2)
    assert outcome.status == "success"
    assert bench.read("a.py") == b"def load(): ...\n"


async def test_what_is_protected_or_has_another_name_is_left_alone(bench: Workbench) -> None:
    place = bench.write("a.py", "def load(): ...\n")
    bench.write("sitecustomize.py", "from a import load\n")
    os.link(bench.write("b.py", "from a import load\n"), place.with_name("c.py"))

    refused = await bench.call("rename_symbol", symbol="load", newName="read")
    assert (refused.status, refused.error and refused.error.code) == ("error", "uncertain")
    assert bench.read("a.py") == b"def load(): ...\n"
    outcome = await bench.call("rename_symbol", symbol="load", newName="read", uncertain="leave")

    assert bench.read("a.py") == b"def read(): ...\n"
    assert bench.read("sitecustomize.py") == bench.read("b.py") == b"from a import load\n"
    assert "sitecustomize.py, sitecustomize.py is protected" in outcome.content
    assert "b.py, it has another name (a hard link)" in outcome.content


async def test_a_path_out_of_the_workspace_is_refused(bench: Workbench) -> None:
    outcome = await bench.call("rename_symbol", symbol="load", newName="read", path="../x.py")
    assert outcome.error is not None
    assert outcome.error.code == "path_denied"
