"""When `brain fleet scale` starts and ends workers."""

from sidecar.commands.fleet import WAITING, Scaler

IDLE_SECONDS = 60.0


def test_workers_come_one_by_one_while_many_tasks_wait_up_to_the_most() -> None:
    scaler = Scaler(1, 3, IDLE_SECONDS)
    assert scaler.wanted(0, 0, 0, now=0) == 1
    assert scaler.wanted(1, WAITING, 5, now=1) == 1
    assert scaler.wanted(1, WAITING + 1, 5, now=2) == 2
    assert scaler.wanted(3, 500, 5, now=3) == 3


def test_workers_go_one_by_one_after_a_while_without_work_down_to_the_least() -> None:
    scaler = Scaler(1, 3, IDLE_SECONDS)
    assert scaler.wanted(3, 0, 0, now=0) == 3
    assert scaler.wanted(3, 0, 0, now=IDLE_SECONDS + 1) == 2
    assert scaler.wanted(2, 0, 0, now=IDLE_SECONDS + 2) == 2
    assert scaler.wanted(2, 0, 1, now=IDLE_SECONDS + 3) == 2
    assert scaler.wanted(2, 0, 0, now=2 * IDLE_SECONDS) == 2
    assert scaler.wanted(2, 0, 0, now=4 * IDLE_SECONDS) == 1
    assert scaler.wanted(1, 0, 0, now=9 * IDLE_SECONDS) == 1
