"""Tools that change files: what they keep, what they refuse, and what they say then."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.patch import apply_hunks, parse_patch

_lines = st.lists(st.sampled_from(["a", "b", "c", "", "  x", "é"]), max_size=12)


@settings(max_examples=150, deadline=None)
@given(_lines, _lines, st.booleans(), st.booleans())
def test_a_patch_made_by_diff_gives_the_new_text(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str], old_end: bool, new_end: bool
) -> None:
    texts = ["\n".join(lines) + ("\n" if lines and end else "") for lines, end in ((old, old_end), (new, new_end))]
    if texts[0] == texts[1] or not texts[0] or not texts[1]:
        return
    folder = tmp_path_factory.mktemp("patch")
    for name, text in zip(("old", "new"), texts, strict=True):
        (folder / name).write_text(text, newline="")
    diff = subprocess.run(["diff", "-u", "old", "new"], cwd=folder, capture_output=True, check=False).stdout.decode()
    patch = diff.replace("--- old", "--- a/f").replace("+++ new", "+++ b/f")

    (file,) = parse_patch(patch)
    assert apply_hunks(texts[0], file) == texts[1]
