import pytest

from sidecar.client.client import Message, SseParser

STREAM = (
    ': keep-alive\n\nid: 1\ndata: {"a":1}\n\ndata: {"live":"ü"}\n\nid: 2\r\ndata: {"b":\r\ndata: 2}\r\n\r\n'.encode()
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_messages_are_the_same_however_the_bytes_were_cut(size: int) -> None:
    parser = SseParser()
    found = [message for at in range(0, len(STREAM), size) for message in parser.feed(STREAM[at : at + size])]
    assert found == [Message("1", '{"a":1}'), Message(None, '{"live":"ü"}'), Message("2", '{"b":\n2}')]


def test_a_message_that_was_cut_off_is_no_message() -> None:
    assert SseParser().feed(b'id: 1\ndata: {"a"') == []


def test_comments_and_unknown_fields_say_nothing() -> None:
    assert SseParser().feed(b": hello\nretry: 10\nevent: x\n\n") == []
