"""A word costs the same, however many came before it."""

from collections.abc import Callable
from time import process_time
from typing import Any

import pytest

from sidecar.models import anthropic, chunks, gemini

Take = Callable[[], Callable[[Any], Any]]


def _completions() -> Callable[[Any], Any]:
    reader = chunks.ReplyReader(0)
    return lambda word: list(reader.take({"choices": [{"delta": {"content": word}}]}))


def _claude() -> Callable[[Any], Any]:
    reader = anthropic._ReplyReader()
    reader.take({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    return lambda word: reader.take(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
    )


def _gemini() -> Callable[[Any], Any]:
    reader = gemini._ReplyReader()
    return lambda word: list(reader.take({"candidates": [{"content": {"parts": [{"text": word}]}}]}))


def _seconds(make: Take, words: int) -> float:
    def once() -> float:
        take, before = make(), process_time()
        for _ in range(words):
            take("a word and ")
        return process_time() - before

    return min(once() for _ in range(3))


@pytest.mark.parametrize("make", [_completions, _claude, _gemini])
def test_a_long_reply_is_read_as_fast_as_a_short_one(make: Take) -> None:
    assert _seconds(make, 160_000) < 2.5 * 8 * _seconds(make, 20_000)
