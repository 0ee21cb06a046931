"""The events of one task, read page by page."""

from sidecar.client.service import BrainService
from sidecar.doors.actions import Json

_MAX_PAGES = 50


def read_events(service: BrainService, task_id: str) -> list[Json]:
    found, after = list[Json](), 0
    for _ in range(_MAX_PAGES):
        page = service.get(f"/api/brain/tasks/{task_id}/events", after=after)
        found += page["events"]
        if not page["more"] or not page["events"]:
            break
        after = page["events"][-1]["seq"]
    return found
