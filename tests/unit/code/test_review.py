"""The changed lines of a diff."""

from tools.code.review import ChangedLines, parse_changed_lines


def test_a_diff_is_read_without_being_misled_by_what_stands_in_it() -> None:
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
