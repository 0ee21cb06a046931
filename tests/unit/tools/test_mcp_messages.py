"""How many messages we take from a server: every answer that we asked for, and not much more."""

from typing import Any, cast

from tools.mcp.stdio import _MAX_RATE, ServerProcess


async def test_a_server_may_answer_as_often_as_we_ask_but_not_flood_us() -> None:
    process = ServerProcess(cast(Any, None), "/", "mark", cast(Any, None))
    for _ in range(3 * _MAX_RATE):
        process.note_request()
        assert process.note_message()
    # Three times as many as a second allows: the clock may tick in between.
    assert not all(process.note_message() for _ in range(3 * _MAX_RATE))
    assert "messages in a second" in process.closed_because
