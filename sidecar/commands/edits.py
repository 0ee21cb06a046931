"""What a task changed, added up from its events: without what was taken back by rewinding it."""

from typing import Any

Event = dict[str, Any]


class Edits:
    def __init__(self) -> None:
        self._told: list[tuple[int, bool, list[Event]]] = []
        self._rewinds: list[tuple[int, int]] = []

    def take(self, event: Event, *, by_checks: bool) -> None:
        self._told.append((event.get("seq", 0), by_checks, event["files"]))

    def rewound(self, to: int, at: int) -> None:
        """The task was taken back to the event `to`; the event `at` told so."""
        self._rewinds.append((to, at))

    def files(self) -> list[Event]:
        files: dict[str, Event] = {}
        for changed in self._counting(by_checks=False):
            for file in changed:
                known = files.get(file["path"])
                if known is None:
                    files[file["path"]] = dict(file)
                else:
                    known["added"] += file["added"]
                    known["removed"] += file["removed"]
                    known["change"] = file["change"] if known["change"] != "created" else known["change"]
        return list(files.values())

    def by_checks(self) -> int:
        """What a check writes, such as a build, is not what was asked for; it is counted, not listed."""
        written = {file["path"] for changed in self._counting(by_checks=True) for file in changed}
        return len(written - {file["path"] for file in self.files()})

    def _counting(self, *, by_checks: bool) -> list[list[Event]]:
        spans = _spans(self._rewinds)
        return [
            files
            for seq, checks, files in self._told
            if checks == by_checks and any(after < seq <= last for after, last in spans)
        ]


def _spans(rewinds: list[tuple[int, int]]) -> list[tuple[int, float]]:
    """Which events count, each span without its first: a rewind may go back to before others, and so undo them."""
    if not rewinds:
        return [(0, float("inf"))]
    *earlier, (to, at) = rewinds
    then = _spans([one for one in earlier if one[1] <= to])
    return [*((after, min(last, to)) for after, last in then if after < to), (at, float("inf"))]
