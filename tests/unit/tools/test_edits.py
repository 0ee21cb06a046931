"""Tools that change files: what they keep, what they refuse, and what they say then."""

import random
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.workbench import Workbench
from tools.changes import unified_diff
from tools.errors import NoMatch
from tools.host import FileChange
from tools.replacement import replace
from tools.text_files import TextFile


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nold\r\nb\r\n", b"a\r\nnew\r\nb\r\n"),
        (b"\xef\xbb\xbfold\n", b"\xef\xbb\xbfnew\n"),
        ("né old\n".encode("latin-1"), "né new\n".encode("latin-1")),
        ("old ✓".encode("utf-16"), "new ✓".encode("utf-16")),
        (b"old", b"new"),
        (b"mixed\r\nold\nend\r", b"mixed\r\nnew\nend\r"),
    ],
)
async def test_an_edit_keeps_every_byte_that_it_was_not_asked_to_change(
    bench: Workbench, before: bytes, after: bytes
) -> None:
    bench.write("a.txt", before)

    outcome = await bench.call("edit_file", path="a.txt", oldText="old", newText="new")

    assert outcome.status == "success", outcome.content
    assert bench.read("a.txt") == after


async def test_a_text_over_several_lines_is_found_whatever_the_line_endings(bench: Workbench) -> None:
    bench.write("a.txt", b"one\r\ntwo\r\nthree\r\n")
    await bench.call("edit_file", path="a.txt", oldText="one\ntwo\n", newText="1\n2\n")

    assert bench.read("a.txt") == b"1\r\n2\r\nthree\r\n"


async def test_a_whole_new_text_keeps_line_endings_bom_and_the_final_newline(bench: Workbench) -> None:
    bench.write("a.txt", b"\xef\xbb\xbfa\r\nb\r\n")
    await bench.call("write_file", path="a.txt", content="x\ny")

    assert bench.read("a.txt") == b"\xef\xbb\xbfx\r\ny\r\n"


async def test_the_mode_of_a_file_is_kept(bench: Workbench) -> None:
    place = bench.write("run.sh", "echo old\n")
    place.chmod(0o751)
    await bench.call("edit_file", path="run.sh", oldText="old", newText="new")
    assert stat.S_IMODE(place.stat().st_mode) == 0o751

    await bench.call("move_file", **{"from": "run.sh", "to": "bin/go.sh"})
    assert stat.S_IMODE((bench.workspace / "bin/go.sh").stat().st_mode) == 0o751
    assert not place.exists()


async def test_a_text_that_occurs_twice_needs_more_words_or_replace_all(bench: Workbench) -> None:
    bench.write("a.txt", "x\ny\nx\n")
    outcome = await bench.call("edit_file", path="a.txt", oldText="x", newText="z")
    assert outcome.error is not None and outcome.error.code == "no_match"
    assert "lines 1, 3" in outcome.content

    await bench.call("edit_file", path="a.txt", oldText="x", newText="z", replaceAll=True)
    assert bench.read("a.txt") == b"z\ny\nz\n"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("def f(x):\n  return x", "indentation differs"),
        ("def f( x ):\n    return x", "spaces within a line differ"),
        ("DEF f(x):\n    return x", "case differ"),
        ("def f(x):\n    return y", "some words differ"),
    ],
)
async def test_a_near_miss_is_answered_with_the_closest_text_and_why(
    bench: Workbench, wanted: str, reason: str
) -> None:
    bench.write("a.py", "import os\n\ndef f(x):\n    return x\n")
    outcome = await bench.call("edit_file", path="a.py", oldText=wanted, newText="")

    assert reason in outcome.content
    assert "line 3" in outcome.content
    assert "    return x" in outcome.content


@pytest.mark.parametrize(
    ("text", "old"),
    [
        (
            "".join(f"    value_{n} = compute(something, {n * 7919 % 10_007})\n" for n in range(5_000)),
            "\n".join(f"    value_{n} = compute(something, {n}) - other" for n in range(100, 130)),
        ),
        ("a a a a a a a a\n" * 19_000, "a b a b\n" * 3_000),
        ("x = 1;" * 30_000, "x = 2;" * 30_000),
    ],
)
def test_what_is_similar_is_found_in_no_time_in_lines_that_resemble_each_other(text: str, old: str) -> None:
    began = time.process_time()
    with pytest.raises(NoMatch):
        replace(TextFile.decode(text.encode(), "a"), old, "x", "a")
    assert time.process_time() - began < 10


async def test_several_edits_are_made_together_or_not_at_all(bench: Workbench) -> None:
    bench.write("a.txt", "one two\n")
    edits = [{"oldText": "one", "newText": "1"}, {"oldText": "nowhere", "newText": "2"}]
    outcome = await bench.call("multi_edit", path="a.txt", edits=edits)
    assert "Edit 2 of 2 failed" in outcome.content
    assert bench.read("a.txt") == b"one two\n"

    await bench.call("multi_edit", path="a.txt", edits=[edits[0], {"oldText": "1 two", "newText": "12"}])
    assert bench.read("a.txt") == b"12\n"


async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(bench: Workbench) -> None:
    bench.write("a.txt", "mine\nrest\n")
    await bench.call("read_file", path="a.txt")
    bench.write("a.txt", "theirs\nrest\n")

    outcome = await bench.call("write_file", path="a.txt", content="all new\n")

    assert outcome.error is not None and outcome.error.code == "changed_elsewhere"
    assert "-mine" in outcome.content and "+theirs" in outcome.content
    assert bench.read("a.txt") == b"theirs\nrest\n"


async def test_an_edit_beside_a_change_that_was_not_seen_is_made_and_reported(bench: Workbench) -> None:
    bench.write("a.txt", "mine\nrest\n")
    await bench.call("read_file", path="a.txt")
    bench.write("a.txt", "theirs\nrest\n")

    outcome = await bench.call("edit_file", path="a.txt", oldText="rest", newText="best")

    assert bench.read("a.txt") == b"theirs\nbest\n"
    assert "changed since you read it" in outcome.content


async def test_what_the_agent_wrote_itself_it_may_overwrite(bench: Workbench) -> None:
    await bench.call("write_file", path="a.txt", content="1\n")
    await bench.call("edit_file", path="a.txt", oldText="1", newText="2")

    assert (await bench.call("write_file", path="a.txt", content="3\n")).status == "success"


PATCH = """--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
--- /dev/null
+++ b/new/b.txt
@@ -0,0 +1,2 @@
+hello
+there
\\ No newline at end of file
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
"""


async def test_a_patch_changes_makes_and_deletes_files(bench: Workbench) -> None:
    bench.write("a.txt", "zero\none\ntwo\nthree\n")
    bench.write("gone.txt", "bye\n")

    outcome = await bench.call("apply_patch", patch=PATCH)

    assert outcome.status == "success", outcome.content
    assert bench.read("a.txt") == b"zero\none\nTWO\nthree\n"
    assert bench.read("new/b.txt") == b"hello\nthere"
    assert not (bench.workspace / "gone.txt").exists()


async def test_a_patch_that_does_not_apply_changes_nothing_and_says_where(bench: Workbench) -> None:
    bench.write("a.txt", "one\n2\nthree\n")
    bench.write("gone.txt", "bye\n")

    outcome = await bench.call("apply_patch", patch=PATCH)

    assert outcome.error is not None and outcome.error.code == "no_match"
    assert "line 2 should be 'two', but there is '2'" in outcome.content
    assert not (bench.workspace / "new").exists()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_every_text_file_comes_back_byte_by_byte(content: bytes) -> None:
    if b"\0" in content:
        return
    file = TextFile.decode(content)

    assert file.encode(file.text, "a") == content


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab\r\n", min_size=1, max_size=30), st.text(alphabet="ab\n", min_size=1, max_size=3))
def test_an_edit_and_its_reverse_give_the_same_text(text: str, old: str) -> None:
    file = TextFile(text, "utf-8", b"")
    try:
        edited = replace(file, old, "‹new›", "a")
    except NoMatch:
        return
    start = edited.text.index("‹new›")
    taken = text[start : start + len(text) - len(edited.text) + len("‹new›")]

    assert edited.text.replace("‹new›", taken) == text


async def test_a_link_inside_the_workspace_is_written_through_and_stays_a_link(bench: Workbench) -> None:
    bench.write("real.txt", "old\n")
    (bench.workspace / "link.txt").symlink_to("real.txt")

    await bench.call("edit_file", path="link.txt", oldText="old", newText="new")

    assert (bench.workspace / "link.txt").is_symlink()
    assert bench.read("real.txt") == b"new\n"


async def test_no_temporary_file_is_left(bench: Workbench, tmp_path: Path) -> None:
    await bench.call("write_file", path="a.txt", content="1")
    await bench.call("write_file", path="a.txt", content="2")

    assert [place.name for place in bench.workspace.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("tool", "args", "code"),
    [
        ("create_file", {"path": "a.txt", "content": ""}, "already_exists"),
        ("write_file", {"path": "d", "content": ""}, "not_a_file"),
        ("edit_file", {"path": "missing", "oldText": "a", "newText": "b"}, "not_found"),
        ("edit_file", {"path": "binary", "oldText": "a", "newText": "b"}, "binary_file"),
        ("delete_file", {"path": "d"}, "not_a_file"),
        ("delete_file", {"path": "missing"}, "not_found"),
        ("move_file", {"from": "a.txt", "to": "binary"}, "already_exists"),
        ("apply_patch", {"patch": "no patch"}, "no_match"),
    ],
)
async def test_a_change_that_cannot_be_made_says_what_to_do(
    bench: Workbench, tool: str, args: dict[str, str], code: str
) -> None:
    bench.write("a.txt", "a\n")
    bench.write("d/x", "")
    bench.write("binary", b"\0\1")

    outcome = await bench.call(tool, **args)

    assert outcome.error is not None and outcome.error.code == code
    assert len(outcome.content) > 20


def test_a_diff_among_many_equal_lines_names_the_right_line_in_little_time() -> None:
    before = ["same"] * 20_000
    after = [*before[:9_000], "new", *before[9_001:]]
    began = time.process_time()
    lines = unified_diff(FileChange("a.txt", "\n".join(before).encode(), "\n".join(after).encode()))
    assert time.process_time() - began < 5
    assert lines[2:] == ["@@ -8999,5 +8999,5 @@", " same", " same", "-same", "+new", " same", " same"]


@pytest.mark.parametrize("seed", range(60))
def test_a_diff_leads_from_the_old_file_to_the_new_one(seed: int) -> None:
    chance = random.Random(seed)
    old = [chance.choice("abcdef") for _ in range(chance.randrange(30))]
    new = list(old)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(new) + 1)
        new[place : place + chance.randrange(2)] = chance.choices("xyz", k=chance.randrange(3))
    change = FileChange("a.txt", "".join(f"{line}\n" for line in old).encode(), "\n".join(new).encode())
    assert _applied(unified_diff(change), old) == new


def _applied(diff: list[str], old: list[str]) -> list[str]:
    found: list[str] = []
    place = 0
    for row in diff[2:]:
        if row.startswith("@@"):
            first, _, count = row.split()[1][1:].partition(",")
            start = int(first) - (count != "0")
            found += old[place:start]
            place = start
        elif row.startswith("+"):
            found.append(row[1:])
        else:
            assert old[place] == row[1:]
            found += [old[place]] if row.startswith(" ") else []
            place += 1
    return [*found, *old[place:]]
