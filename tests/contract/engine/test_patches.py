"""A task's diff is a patch that `git apply` takes, forwards and backwards: any name, mode, rename, link and content."""

import os
import random
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecar.engine.hunks import file_diff, renamed
from sidecar.engine.merge import File
from sidecar.engine.renames import find_renames
from tests.faults.scale import scaled
from tests.support.manual_task import ManualTask
from tools.local.root import name_to_text

Files = dict[str, tuple[bytes, int]]


def put(root: Path, files: Mapping[str, File]) -> None:
    for name, (content, mode) in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if File(content, mode).linked:
            place.symlink_to(os.fsdecode(content))
        else:
            place.write_bytes(content)
            place.chmod(mode or 0o644)


def found(root: Path) -> dict[str, File]:
    files: dict[str, File] = {}
    for folder, _, names in os.walk(root):
        if "/.git" in folder:
            continue
        for name in names:
            place = Path(folder, name)
            path = str(place.relative_to(root))
            if place.is_symlink():
                files[path] = File(os.fsencode(place.readlink()), 0o120777)
            else:
                files[path] = File(place.read_bytes(), 0o755 if place.stat().st_mode & 0o100 else 0o644)
    return files


def patch(before: Mapping[str, File], after: Mapping[str, File]) -> bytes:
    diffs = {
        path: file_diff(name_to_text(path), before.get(path), after.get(path), {})
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }
    gone = {path: file for path, file in before.items() if path not in after}
    new = {path: file for path, file in after.items() if path not in before}
    for path, source in find_renames(gone, new).items():
        diffs[path] = renamed(diffs[path], name_to_text(source), gone[source], new[path])
        diffs[source] = diffs[source].model_copy(update={"diff": ""})
    return "".join(diff.diff for diff in diffs.values()).encode()


def git_apply(root: Path, text: bytes, *words: str) -> None:
    done = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", *words, "-"], cwd=root, input=text, capture_output=True, check=False
    )
    assert done.returncode == 0, (done.stderr.decode(errors="replace"), text[:2_000])


def check(before: Mapping[str, File], after: Mapping[str, File]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
        put(root, before)
        if text := patch(before, after):
            git_apply(root, text)
            assert found(root) == dict(after)
            git_apply(root, text, "--reverse")
            assert found(root) == dict(before)


LINK = 0o120777
TEXT = File(b"one\ntwo\nthree\n", 0o644)
NOISE = bytes(random.Random(7).randbytes(5_000))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": File(b"x\r\ny\r\n", 0o644)}, {"a": File(b"x\r\nz\r\n", 0o644)}),
        ({"a": File(b"x\r\ny\n", 0o644)}, {"a": File(b"x\ny\r\n", 0o644)}),
        ({}, {"empty": File(b"", 0o644)}),
        ({"empty": File(b"", 0o755)}, {}),
        ({"a": TEXT}, {"a": File(b"", 0o644)}),
        ({"a": TEXT}, {"a": TEXT._replace(mode=0o755)}),
        ({"a": TEXT}, {"a": File(b"other\n", 0o755)}),
        ({"a": TEXT}, {"b": TEXT}),
        ({"a": TEXT}, {"d/b c": File(b"one\ntwo\nchanged\n", 0o755)}),
        ({"a": File(NOISE, 0o644)}, {"b": File(NOISE, 0o644)}),
        ({"a": File(NOISE, 0o644)}, {"a": File(NOISE[:99] + b"\0", 0o644)}),
        ({}, {"a.png": File(NOISE, 0o644)}),
        ({"latin": File(b"caf\xe9\n", 0o644)}, {"latin": File(b"th\xe9\n", 0o644)}),
        ({}, {"l": File(b"target", LINK)}),
        ({"l": File(b"target", LINK)}, {"l": File(b"elsewhere", LINK)}),
        ({"l": File(b"target", LINK)}, {"l": File(b"a file\n", 0o644)}),
        ({"l": TEXT}, {"l": File(b"target", LINK)}),
        ({}, {"no newline": File(b"x", 0o644)}),
        ({"a": File(b"x", 0o644)}, {"a": File(b"x\n", 0o644)}),
        ({"a": File(b"a\x0cb\n\x1c\n\xc2\x85\xe2\x80\xa8\n", 0o644)}, {"a": File(b"a\x0cb\n\x1d\n", 0o644)}),
    ],
)
def test_git_applies_the_change_and_takes_it_back(before: dict[str, File], after: dict[str, File]) -> None:
    check(before, after)


def test_a_mode_that_git_does_not_know_is_left_out(tmp_path: Path) -> None:
    changed = File(b"one\n", 0o644)
    text = patch({"a": TEXT, "b": TEXT}, {"a": TEXT._replace(mode=0o600), "b": changed})
    assert b"a/a" not in text
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    put(tmp_path, {"a": TEXT, "b": TEXT})
    git_apply(tmp_path, text)
    assert found(tmp_path) == {"a": TEXT, "b": changed}


NAMES = ["a", "b c", 'q"uote', "back\\slash", "tab\there", "new\nline", "ümläut", "d/é e", "-dash", "a b/c d"]
ODD = os.fsdecode(b"na\xefve")
NAME = st.sampled_from([*NAMES, ODD])
CONTENT = st.one_of(
    st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"d", b"", b"\xff\n", b"\0"]), max_size=12).map(b"".join),
    st.binary(max_size=200),
)
FILE = st.one_of(
    st.builds(File, CONTENT, st.sampled_from([0o644, 0o755])), st.builds(File, st.just(b"to/there"), st.just(LINK))
)


@settings(max_examples=scaled(60, 1_000), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(NAME, FILE, max_size=4), st.dictionaries(NAME, FILE, max_size=4))
def test_git_applies_any_change_of_files(before: dict[str, File], after: dict[str, File]) -> None:
    check(before, after)


async def test_the_diff_of_a_task_is_such_a_patch_and_shows_renames(tmp_path: Path) -> None:
    shop = ManualTask(tmp_path)
    try:
        put(shop.workspace, {"old.py": TEXT, "crlf": File(b"x\r\n", 0o644), "pic": File(NOISE, 0o644)})
        subprocess.run(["git", "init", "-q"], cwd=shop.workspace, check=True)
        await shop.open()
        before = found(shop.workspace)
        await shop.command("mv old.py new.py; printf 'y\\r\\n' >> crlf; printf z >> pic; touch empty; chmod +x crlf")
        after = found(shop.workspace)
        files = (await shop.engine.review.diff("t_1")).files
        (new,) = [file for file in files if file.change == "renamed"]
        assert (new.path, new.renamed_from, new.added, new.removed) == ("new.py", "old.py", 0, 0)
        text = "".join(file.diff for file in files).encode()
        assert b"rename from old.py\nrename to new.py\n" in text
        git_apply(shop.workspace, text, "--reverse")
        assert found(shop.workspace) == before
        git_apply(shop.workspace, text)
        assert found(shop.workspace) == after
    finally:
        await shop.close()


async def test_a_diff_of_many_equal_lines_takes_no_time(tmp_path: Path) -> None:
    lines = b"same\n" * 60_000
    diff = file_diff("f", File(b"first\n" + lines + b"x\n", 0o644), File(lines + b"y\n" + lines, 0o644), {})
    assert diff.hunks
