"""What the person attached, as a model gets it."""

from base64 import b64encode

import pytest

from sidecar.engine.state import UserMessage
from sidecar.wire.tasks import Attachment
from sidecar.work.attachments import parse_attachments, user_turn

PNG, JPEG, WEBP = b"\x89PNG\r\n\x1a\n0", b"\xff\xd8\xff\xe0", b"RIFF\0\0\0\0WEBPVP8 "


def given(media_type: str, data: bytes | str) -> Attachment:
    encoded = data if isinstance(data, str) else b64encode(data).decode()
    return Attachment(name="x", media_type=media_type, data=encoded)


@pytest.mark.parametrize(
    ("media_type", "data", "kind"),
    [
        ("image/png", PNG, "image/png"),
        ("image/png", JPEG, "image/jpeg"),
        ("image/jpg", JPEG, "image/jpeg"),
        ("application/octet-stream", WEBP, "image/webp"),
        ("image/gif", b"whatever it is", "image/gif"),
    ],
)
def test_a_picture_is_of_the_kind_that_it_is(media_type: str, data: bytes, kind: str) -> None:
    texts, (image,) = parse_attachments([given(media_type, data)])
    assert (texts, image.media_type, image.data) == ([], kind, b64encode(data).decode())


def test_a_picture_may_come_as_it_stands_in_a_page() -> None:
    encoded = b64encode(PNG).decode()
    (image,) = parse_attachments([given("image/png", f"data:image/png;base64,{encoded[:4]}\n{encoded[4:]}")])[1]
    assert image.data == encoded


def test_a_drawing_that_is_text_is_given_as_text() -> None:
    (text,), images = parse_attachments([given("image/svg+xml", b"<svg><circle/></svg>")])
    assert "<svg><circle/></svg>" in text and images == []


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", "not base64!", b"RIFF\0\0\0\0WAVE\xff", b""])
def test_what_no_model_can_look_at_is_said_to_be_there_and_not_sent(data: bytes | str) -> None:
    media_type = "image/png" if isinstance(data, str) or not data else "image/tiff"
    (text,), images = parse_attachments([given(media_type, data)])
    assert text.startswith("The user attached x (image/") and images == []


def test_a_message_brings_its_attachments_into_the_conversation() -> None:
    attached = [given("image/png", b"\x89PNG..."), given("text/plain", b"all is well")]
    turn = user_turn(UserMessage(id="m", text="look", attachments=attached))
    assert [image.media_type for image in turn.images] == ["image/png"]
    assert "all is well" in turn.text and turn.text.endswith("look")
