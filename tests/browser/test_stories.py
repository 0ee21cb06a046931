"""The panel in a real Chromium against the real sidecar. Each file of `stories/` is one story."""

import pytest

from tests.browser.conftest import HERE, Node

STORIES = sorted(story.stem for story in (HERE / "stories").glob("*.mjs"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("story", STORIES)
def test_story(story: str, node: Node, chromium: str) -> None:
    try:
        output = node("run.mjs", story, browser=chromium)
    except AssertionError as first:
        # A browser on a busy machine may lose a click; a story that fails twice in a row is broken.
        print(f"Running {story} again, with a browser of its own, because: {first}")
        output = node("run.mjs", story)
    assert f"passed: {story}" in output
