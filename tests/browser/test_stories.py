"""The panel in a real Chromium against the real sidecar. Each file of `stories/` is one story."""

import pytest

from tests.browser.conftest import HERE, Node

STORIES = sorted(story.stem for story in (HERE / "stories").glob("*.mjs"))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("story", STORIES)
def test_story(story: str, node: Node) -> None:
    assert f"told: {story}" in node("run.mjs", story)
