"""Schedules: parsed with care, due at the right moments, started once, and stopped by their limits. No test waits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sidecar.fleet.schedules.calendar import LONGEST_SECONDS, LocalCalendar
from sidecar.fleet.schedules.cron import parse_cron
from sidecar.fleet.schedules.files import Schedule, last_slot, load_schedules, next_slot, parse_schedule
from sidecar.fleet.schedules.runner import ScheduleRunner
from tests.support.schedules import Engine, write

NOON = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)


def runner(folder: Path, engine: Engine, later: timedelta = timedelta()) -> ScheduleRunner:
    return ScheduleRunner(folder, engine.journal, engine, calendar(folder, later))


def calendar(folder: Path, later: timedelta = timedelta()) -> LocalCalendar:
    return LocalCalendar(folder, lambda: datetime.now(UTC) + later)


def schedule(front: str, since: float = 0.0) -> Schedule:
    return parse_schedule("look", f"---\nworkspace: /w\n{front}\n---\nLook.", since)


def test_intervals_count_from_midnight_and_only_the_newest_missed_moment_is_due() -> None:
    found = schedule("every: 4h")
    assert last_slot(found, NOON, None) == NOON.replace(minute=0)
    assert next_slot(found, NOON, None) == NOON.replace(hour=16, minute=0)
    written = replace(found, since=NOON.timestamp())
    assert last_slot(written, NOON, None) is None


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("0 9 * * 1-5", "2026-03-06 09:00", "2026-03-09 09:00"),
        ("*/20 8-9 * * *", "2026-03-07 09:40", "2026-03-08 08:00"),
        ("0 0 1 jan,jul *", "2026-01-01 00:00", "2026-07-01 00:00"),
        ("0 12 13 * fri", "2026-03-06 12:00", "2026-03-13 12:00"),
        ("30 6 * * sun", "2026-03-01 06:30", "2026-03-08 06:30"),
        ("30 6 * * 7", "2026-03-01 06:30", "2026-03-08 06:30"),
        ("0 0 29 2 *", "2024-02-29 00:00", "2028-02-29 00:00"),
        ("5/10 * * * *", "2026-03-07 12:25", "2026-03-07 12:35"),
    ],
)
def test_cron_expressions_match_as_cron_has_it(text: str, before: str, after: str) -> None:
    saturday = datetime(2026, 3, 7, 12, 30)
    assert str(parse_cron(text).last(saturday))[:16] == before
    assert str(parse_cron(text).next(saturday))[:16] == after


def test_cron_expressions_are_due_at_their_moments() -> None:
    found = schedule("cron: 15 * * * *")
    assert last_slot(found, NOON, None) == NOON.replace(minute=15)
    assert last_slot(found, NOON.replace(minute=15), None) == NOON.replace(minute=15)
    assert next_slot(found, NOON, None) == NOON.replace(hour=13, minute=15)


def test_a_stale_workspace_is_due_once_nothing_was_done_in_it_for_so_long() -> None:
    found = schedule("stale: 2h")
    assert last_slot(found, NOON, NOON - HOUR) is None
    assert next_slot(found, NOON, NOON - HOUR) == NOON + HOUR
    assert last_slot(found, NOON, NOON - 3 * HOUR) == NOON - HOUR


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        ("", "exactly one"),
        ("every: 1h\ncron: 0 9 * * *", "exactly one"),
        ("every: 10s", "no time such as"),
        ("every: 0h", "no time such as"),
        ("cron: 0 9 * *", "no cron expression"),
        ("cron: 0 9 * * * *", "no cron expression"),
        ("cron: 99 9 * * *", "no minute"),
        ("cron: 0 9 31 2 *", "never comes"),
        ("cron: 0 9 * * */0", "no weekday"),
        ("cron: 5-1 * * * *", "ends before"),
        ("every: 1h\nworkspace: relative", "absolute"),
        ("every: 1h\napprovals: ask", "no one is there"),
        ("every: 1h\npool: mine", "pool must be"),
        ("every: 1h\nbudget: lots", "budget must be"),
        ("every: 1h\nmaxPerDay: 0", "maxperday must be"),
        ("every: 1h\nrun: rm", "unknown key"),
    ],
)
def test_a_schedule_that_cannot_be_used_says_why(front: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        schedule(front)


def test_links_and_broken_files_are_reported_and_the_others_are_used(tmp_path: Path) -> None:
    write(tmp_path, "good", "every: 1h")
    write(tmp_path, "Bad Name", "every: 1h")
    (tmp_path / "elsewhere.md").write_text("---\nevery: 1h\nworkspace: /w\n---\nx")
    (tmp_path / "schedules" / "link.md").symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / "pools.toml").write_text('[exploration]\natOnce = "many"\n')
    loaded = load_schedules(tmp_path)
    assert [each.name for each in loaded.schedules] == ["good"]
    assert len(loaded.problems) == 3
    assert loaded.pools["exploration"].at_once == 1


async def test_a_problem_is_logged_when_it_is_new(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, "look", "every: 1s")
    found = runner(tmp_path, Engine())
    for front, count in (("every: 1s", 1), ("every: 1s", 1), ("every: 2s", 2), ("every: 4w", 2), ("every: 1s", 3)):
        write(tmp_path, "look", front)
        await found.step()
        assert sum("is not used" in record.message for record in caplog.records) == count


async def test_what_is_due_starts_once_whoever_looks_and_what_was_missed_runs_once(tmp_path: Path) -> None:
    write(tmp_path, "look", "every: 1h\nagent: security\napprovals: readonly")
    engine = Engine()
    await runner(tmp_path, engine).step()
    await runner(tmp_path, engine).step()
    assert len(await engine.tasks()) == 1
    started = engine.submitted[0].request
    assert (started.task, started.options.agent_type, started.options.unattended) == ("Look around.", "security", True)
    assert started.options.approvals == "readonly"
    await engine.end()
    late = runner(tmp_path, engine, 5 * HOUR)
    await late.step()
    await late.step()
    assert len(await engine.tasks()) == 2


async def test_an_activation_that_still_runs_keeps_the_next_one_waiting(tmp_path: Path) -> None:
    write(tmp_path, "look", "every: 1h")
    engine = Engine()
    await runner(tmp_path, engine).step()
    late = runner(tmp_path, engine, 2 * HOUR)
    await late.step()
    assert len(await engine.tasks()) == 1
    (found,) = (await late.state()).schedules
    assert found.waits == "Its last activation still runs."
    await engine.end()
    await late.step()
    assert len(await engine.tasks()) == 2


async def test_a_pool_runs_no_more_at_once_than_it_may(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write(tmp_path, name, "every: 1h\npool: exploration")
    engine = Engine()
    await runner(tmp_path, engine).step()
    assert len(await engine.tasks()) == 1
    await engine.end()
    await runner(tmp_path, engine).step()
    assert len(await engine.tasks()) == 2


async def test_a_budget_of_the_day_stops_its_schedule_and_limits_the_last_run(tmp_path: Path) -> None:
    write(tmp_path, "look", "every: 1m\nbudget: 1.00\nmaxCost: 0.80")
    engine = Engine()
    now = datetime.now(UTC)
    if now.hour == 23:
        pytest.skip("the day ends while the test runs")
    for minutes in range(0, 50, 10):
        await runner(tmp_path, engine, timedelta(minutes=minutes)).step()
        await engine.end(cost=0.60)
    assert [each.request.options.max_cost_usd for each in engine.submitted] == [0.80, pytest.approx(0.40)]
    (found,) = (await runner(tmp_path, engine, timedelta(minutes=55)).state()).schedules
    assert found.waits is not None
    assert "budget" in found.waits


async def test_a_budget_of_a_pool_stops_all_of_its_schedules(tmp_path: Path) -> None:
    write(tmp_path, "one", "every: 1h\npool: notification")
    write(tmp_path, "two", "every: 1h\npool: notification")
    (tmp_path / "pools.toml").write_text("[notification]\nbudget = 0.5\n")
    engine = Engine()
    await runner(tmp_path, engine).step()
    await engine.end(cost=0.75)
    await runner(tmp_path, engine).step()
    assert len(await engine.tasks()) == 1


async def test_at_most_so_many_activations_run_in_a_day(tmp_path: Path) -> None:
    write(tmp_path, "look", "every: 1m\nmaxPerDay: 2")
    engine = Engine()
    for minutes in range(0, 20, 5):
        await runner(tmp_path, engine, timedelta(minutes=minutes)).step()
        await engine.end()
    assert len(await engine.tasks()) <= (2 if datetime.now(UTC).hour < 23 else 4)


async def test_without_a_schedule_there_is_nothing_to_wait_for_and_a_clock_that_jumps_is_noticed(
    tmp_path: Path,
) -> None:
    engine, moments = Engine(), calendar(tmp_path)
    found = ScheduleRunner(tmp_path, engine.journal, engine, moments)
    await found.step()
    assert moments.seconds() is None
    write(tmp_path, "look", "every: 4w")
    await found.step()
    assert moments.seconds() == LONGEST_SECONDS
