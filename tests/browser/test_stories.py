"""The panel in a real Chromium against the real sidecar. Each file of `stories/` is one story.

`make stories` runs all of them; the usual test run has those that hold what you decide and what you keep.
"""

import pytest

from tests.browser.conftest import HERE, Node
from tests.faults.scale import scaled

ALL = sorted(story.stem for story in (HERE / "stories").glob("*.mjs"))
USUAL = [
    "accessible",
    "approval_by_keyboard",
    "cancel_and_resume",
    "complete_task",
    "embedded",
    "first_run",
    "full_disk",
    "history",
    "hostile_text",
    "impostor",
    "killed_and_restarted",
    "one_thread",
    "reject_and_rewind",
    "typing_while_asked",
]
STORIES = scaled(USUAL, ALL)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("story", STORIES)
def test_story(story: str, node: Node, chromium: str) -> None:
    try:
        output = node("run.mjs", story, browser=chromium)
    except AssertionError as first:
        # A browser on a busy machine may lose a click; a story that fails twice in a row is broken.
        print(f"Running {story} again, with a browser of its own, because: {first}")
        output = node("run.mjs", story)
    if output.startswith("skipped: "):
        pytest.skip(output.removeprefix("skipped: ").strip())
    assert f"passed: {story}" in output
