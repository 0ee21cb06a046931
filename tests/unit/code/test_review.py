"""The changed lines of a diff."""

import gc

from tools.code.review import ChangedLines, parse_changed_lines
from tools.patch import PatchHunk, read_diff


def test_a_diff_is_read_without_being_misled_by_what_is_in_it() -> None:
    diff = (
        "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -2,0 +3,2 @@ x\n++++ b/not a file\n+@@ -1 +9 @@\n"
        "@@ -9 +11,0 @@\n--- gone\ndiff --git a/b.py b/b.py\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/b.py\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/c.py b/c.py\ndeleted file mode 100644\n--- a/c.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )

    assert parse_changed_lines(diff) == [
        ChangedLines("a.md", frozenset({3, 4}), False),
        ChangedLines("b.py", frozenset({1}), True),
    ]


def test_a_large_diff_is_read_file_by_file() -> None:
    """While all its hunks are kept, each garbage collection stops every thread of the sidecar."""
    diff = "".join(
        f"diff --git a/{n}.py b/{n}.py\n--- a/{n}.py\n+++ b/{n}.py\n@@ -1 +1 @@\n-{n}\n+x\n" for n in range(1_000)
    )
    gc.collect()
    others = count_hunks()
    most = 0

    for file in read_diff(diff):
        assert len(file.hunks) == 1
        if file.path in ("500.py", "999.py"):
            most = max(most, count_hunks() - others)

    assert 0 < most <= 2


def count_hunks() -> int:
    return sum(isinstance(each, PatchHunk) for each in gc.get_objects())
