"""What could not be done is said to a person: in words for people, not for a model that knows tools by their names."""

import re
from pathlib import Path

import pytest

from sidecar.wire.tasks import Status
from tests.support.engine import engine_harness
from tools.executor.registry import default_registry

FOR_MODELS = re.compile(
    "|".join([*(rf"\b{info.name}\b" for info in default_registry().infos()), r"[Tt]ell the person"])
)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("list the files in nowhere", "nowhere does not exist."),
        ("run the tests", "The tests could not run: No tests were found: "),
        ("git status", "The workspace is not a Git repository."),
        ("write a changelog", "The offline model can't write changelogs. Configure a language model for it: "),
        ("run `sudo ls`", "`sudo ls` did not run: Not allowed: "),
        ("rename f to h", "2 symbols are named f; nothing was changed."),
    ],
)
async def test_a_decline_is_in_words_for_people(task: str, said: str, tmp_path: Path) -> None:
    async with engine_harness(tmp_path) as harness:
        for name in ("a.py", "b.py"):
            (harness.workspace / name).write_text("def f():\n    pass\n")
        ended = await harness.ended(await harness.execute(task, approvals="auto"))
        assert ended.status is Status.FAILED and ended.error is not None
        assert ended.error.message.startswith(said)
        told = [str(event.get("error", event.get("message"))) for event in await harness.events(ended.id)]
        assert [text for text in told if FOR_MODELS.search(text.partition("'advice'")[0])] == []
