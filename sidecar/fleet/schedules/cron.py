"""Cron expressions of five fields: minute, hour, day of the month, month, day of the week.

As cron has it, a day matches if either of its two fields does, unless one of them begins with `*`. The usual library
starts a process when it is imported.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day", 1, 31, []),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 7, _DAYS),
)
_ITEM = re.compile(r"(\*|\w{1,3})(?:-(\w{1,3}))?(?:/(\d{1,2}))?")
#: The 29th of February comes within eight years, whichever year it is.
_MOST_DAYS = 366 * 8 + 2


@dataclass(frozen=True, slots=True)
class Cron:
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    #: Whether both fields of the day must match.
    both: bool

    def last(self, moment: datetime) -> datetime:
        """The newest match up to a moment, in local time without a zone."""
        return self._find(moment, -1)

    def next(self, moment: datetime) -> datetime:
        """The first match after a moment."""
        return self._find(moment, 1)

    def _find(self, moment: datetime, step: int) -> datetime:
        day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        for _ in range(_MOST_DAYS):
            if self._matches(day):
                times = [day.replace(hour=hour, minute=minute) for hour in self.hours for minute in self.minutes]
                found = [time for time in times if (time > moment if step > 0 else time <= moment)]
                if found:
                    return min(found) if step > 0 else max(found)
            day += timedelta(days=step)
        raise ValueError("it never comes")

    def _matches(self, day: datetime) -> bool:
        by_date, by_weekday = day.day in self.days, (day.weekday() + 1) % 7 in self.weekdays
        return day.month in self.months and (by_date and by_weekday if self.both else by_date or by_weekday)


def parse_cron(text: str) -> Cron:
    """Raises `ValueError` for what is no cron expression, or names a day that never comes."""
    fields = text.lower().split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f"{text!r} is no cron expression of five fields, such as 0 9 * * 1-5")
    minutes, hours, days, months, weekdays = (
        _parse_field(text, *each) for text, each in zip(fields, _FIELDS, strict=True)
    )
    cron = Cron(
        tuple(sorted(minutes)),
        tuple(sorted(hours)),
        frozenset(days),
        frozenset(months),
        frozenset(day % 7 for day in weekdays),
        both=fields[2].startswith("*") or fields[4].startswith("*"),
    )
    cron.next(datetime(2024, 1, 1))
    return cron


def _parse_field(text: str, name: str, least: int, most: int, words: list[str]) -> set[int]:
    def number(word: str) -> int:
        value = words.index(word) + least if word in words else int(word) if word.isdecimal() else -1
        if not least <= value <= most:
            raise ValueError(f"{word!r} is no {name} from {least} to {most}")
        return value

    found: set[int] = set()
    for item in text.split(","):
        parts = _ITEM.fullmatch(item)
        if parts is None or parts[3] == "0":
            raise ValueError(f"{item!r} is no {name}")
        first, last, every = parts.groups()
        start = least if first == "*" else number(first)
        end = number(last) if last else most if first == "*" or every else start
        if end < start:
            raise ValueError(f"{item!r} ends before it begins")
        found.update(range(start, end + 1, int(every or 1)))
    return found
