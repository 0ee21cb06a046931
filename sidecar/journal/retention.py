"""How much of the past is kept. Only ended tasks are ever dropped, the oldest first."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Retention:
    days: float = 90
    bytes: int = 512 * 1024 * 1024
    #: What the file contents of one task may take; those beyond it are not kept, and cannot be undone.
    task_bytes: int = 256 * 1024 * 1024

    def drops(self, created_at: str, size: int) -> bool:
        """Whether a task of that age goes, when the journal has that size."""
        return size > self.bytes or created_at < timestamp(datetime.now(UTC) - timedelta(days=self.days))


def timestamp(moment: datetime | None = None) -> str:
    """As the wire has it: UTC, milliseconds, `Z`."""
    moment = moment or datetime.now(UTC)
    return moment.isoformat(timespec="milliseconds")[:-6] + "Z"
