"""What is shown of a stream never holds the key, wherever it was cut, and nothing else is lost."""

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sidecar.models.port import Delta, NativeTurn, Reply, Stop, ToolUse
from sidecar.models.sanitize import KeyRedactor, RedactedStream

KEYS = st.sampled_from(["sk-ant-0123456789", "sssssssss", "abababababc", "short"])


def _shown(key: str, pieces: Sequence[str]) -> str:
    shown = RedactedStream(KeyRedactor("anthropic", key))
    return "".join(delta.text for delta in [*(shown.part(Delta(piece)) for piece in pieces), *shown.rest()])


@given(key=KEYS, around=st.lists(st.text("sk-ab[]: ", max_size=6), min_size=1, max_size=4), data=st.data())
def test_slices_do_not_matter(key: str, around: list[str], data: st.DataObject) -> None:
    text = key.join(around)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    pieces = [text[start:stop] for start, stop in pairwise([0, *sorted(cuts), len(text)])]
    assert _shown(key, pieces) == (text if key == "short" else text.replace(key, "[redacted:anthropic-key]"))


def test_what_is_thought_and_what_is_said_are_held_back_apart() -> None:
    shown = RedactedStream(KeyRedactor("anthropic", "sk-ant-0123456789"))
    parts = [Delta("sk-ant", "thinking"), Delta("Yes"), Delta(" it is", "thinking"), Delta(".")]
    said = [*map(shown.part, parts), *shown.rest()]
    assert "".join(delta.text for delta in said if delta.kind == "text") == "Yes."
    assert "".join(delta.text for delta in said if delta.kind == "thinking") == "sk-ant it is"


def test_a_reply_holds_the_key_nowhere_and_what_was_signed_is_let_go() -> None:
    key = "sk-ant-0123456789"
    calls = [ToolUse(id="a", tool="write_file", args={"path": "a", "lines": [{key: f"x{key}"}]})]
    kept = NativeTurn(
        provider="anthropic", model="x", content=[{"type": "thinking", "thinking": key, "signature": "s"}]
    )
    reply = Reply(text=f"It is {key}.", thinking=key, calls=calls, stop=Stop.TOOL_USE, kept=kept)
    told = KeyRedactor("anthropic", key).reply(reply)
    assert key not in told.to_json()
    assert (told.text, told.stop, told.kept) == ("It is [redacted:anthropic-key].", Stop.TOOL_USE, None)
    assert told.calls[0].args["path"] == "a"


def test_a_reply_without_the_key_is_left_as_it_is() -> None:
    reply = Reply(text="An example looks like sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA.", stop=Stop.END)
    assert KeyRedactor("anthropic", "sk-ant-0123456789").reply(reply) is reply
