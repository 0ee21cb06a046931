"""When a schedule is due. No clock and no store: every answer follows from what is passed in."""

from datetime import UTC, datetime

from sidecar.fleet.schedules.cron import parse_cron
from sidecar.fleet.schedules.files import Schedule

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def last_slot(schedule: Schedule, now: datetime, active: datetime | None) -> datetime | None:
    """The newest moment up to `now` at which it was due; those before that are missed for good.

    `active` is when anything was last done in its workspace, which only `stale` asks about. Intervals count from
    midnight UTC, so that all processes agree on them; cron expressions are in local time.
    """
    if schedule.kind == "stale":
        slot = _stale_since(schedule, active)
        return slot if slot <= now else None
    if schedule.kind == "every":
        slot = now - (now - _EPOCH) % schedule.interval
    else:
        slot = parse_cron(schedule.when).last(_local(now)).astimezone(UTC)
    return slot if slot.timestamp() > schedule.since else None


def next_slot(schedule: Schedule, now: datetime, active: datetime | None) -> datetime:
    """The first moment after `now` at which it will be due."""
    if schedule.kind == "stale":
        return max(_stale_since(schedule, active), now)
    if schedule.kind == "every":
        return now - (now - _EPOCH) % schedule.interval + schedule.interval
    return parse_cron(schedule.when).next(_local(now)).astimezone(UTC)


def _local(moment: datetime) -> datetime:
    return moment.astimezone().replace(tzinfo=None)


def _stale_since(schedule: Schedule, active: datetime | None) -> datetime:
    return (active or datetime.fromtimestamp(schedule.since, UTC)) + schedule.interval
