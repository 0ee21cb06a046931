from sidecar.engine.merge import mark_conflicts


def marked(base: str, ours: str, theirs: str) -> str:
    return mark_conflicts(base.encode(), ours.encode(), theirs.encode(), "mine", "task").decode()


def test_only_places_that_both_sides_changed_differently_are_marked() -> None:
    assert marked("1\n2\n3\n4\n5\n", "one\n2\n3\nvier\n5\n", "1\n2\n3\nfour\n5\nsix\n") == (
        "one\n2\n3\n<<<<<<< mine\nvier\n=======\nfour\n>>>>>>> task\n5\nsix\n"
    )


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    assert marked("1\n2\n", "1\ntwo\n", "1\ntwo\n") == "1\ntwo\n"


def test_a_marker_begins_a_line_though_the_file_ends_without_one() -> None:
    assert marked("a", "b", "c") == "<<<<<<< mine\nb\n=======\nc\n>>>>>>> task\n"


def test_a_deletion_against_a_change_shows_both() -> None:
    assert marked("1\n2\n3\n", "1\n3\n", "1\ntwo\n3\n") == "1\n<<<<<<< mine\n=======\ntwo\n>>>>>>> task\n3\n"
