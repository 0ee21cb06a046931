from sidecar.engine.timeline import Rewind, Timeline, branched, plain


def counting(rewinds: list[tuple[int, int]], until: int) -> list[int]:
    timeline = Timeline.of([Rewind(to, at) for to, at in rewinds])
    return [seq for seq in range(1, until + 1) if timeline.holds(seq)]


def test_without_a_rewind_everything_counts() -> None:
    assert counting([], 4) == [1, 2, 3, 4]


def test_after_a_rewind_what_lay_between_does_not_count() -> None:
    assert counting([(2, 6)], 8) == [1, 2, 7, 8]


def test_a_rewind_of_a_rewind_brings_back_what_it_took() -> None:
    assert counting([(2, 6), (5, 9)], 10) == [1, 2, 3, 4, 5, 10]


def test_a_rewind_within_what_followed_a_rewind_keeps_the_branch() -> None:
    assert counting([(2, 6), (8, 10)], 12) == [1, 2, 7, 8, 11, 12]


def test_a_rewind_to_the_beginning_leaves_nothing() -> None:
    assert counting([(0, 3)], 5) == [4, 5]


def test_names_on_a_branch_are_their_own() -> None:
    assert branched("r1.1-coder.0", 0) == "r1.1-coder.0"
    assert branched("r1.1-coder.0", 2) == "r1.1-coder.0~2"
    assert plain("r1.1-coder.0~2") == "r1.1-coder.0"


def test_many_rewinds_of_a_task_cost_no_more_than_their_number_says() -> None:
    # Each to the event of the one before it, which once doubled the work with each rewind.
    rewinds = [(2 * number, 2 * number + 2) for number in range(1, 300)]
    assert counting(rewinds, 602) == [1, 2, 601, 602]
