"""Which calls may run together."""

from tools.executor.access import PathAccess, conflict

READ_A = PathAccess(False, (("a",),))
WRITE_A = PathAccess(True, (("a",),))
WRITE_B = PathAccess(True, (("b",),))
EVERYTHING = PathAccess(True, ((),))


def test_reads_never_wait_for_reads() -> None:
    assert not conflict(READ_A, READ_A)


def test_writes_on_different_files_run_together() -> None:
    assert not conflict(WRITE_A, WRITE_B)


def test_a_write_waits_for_a_read_of_the_same_file_or_of_what_holds_it() -> None:
    assert conflict(WRITE_A, READ_A)
    assert conflict(PathAccess(True, (("src", "x.py"),)), PathAccess(False, (("src",),)))
    assert conflict(PathAccess(True, (("src",),)), PathAccess(False, (("src", "x.py"),)))


def test_a_command_waits_for_everything() -> None:
    assert all(conflict(EVERYTHING, other) for other in (READ_A, WRITE_A, EVERYTHING))


def test_a_call_that_touches_no_file_waits_for_nothing() -> None:
    assert not conflict(PathAccess(False, ()), EVERYTHING)
