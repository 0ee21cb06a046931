"""What is taken out of a text, and what is left alone."""

from sidecar.telemetry.redaction import Redactor, environment_secrets


def test_a_known_value_is_taken_out_wherever_it_stands() -> None:
    redact = Redactor(lambda: {"openai-key": "correct-horse"})
    assert redact("say correct-horse twice") == "say [redacted:openai-key] twice"


def test_a_key_that_is_hardly_one_is_no_reason_to_blot_out_ordinary_words() -> None:
    redact = Redactor(lambda: {"openai-key": "x", "groq-key": "test"})
    assert redact("the next test of extra.txt") == "the next test of extra.txt"


def test_names_of_an_environment_that_only_look_secret_are_none() -> None:
    environ = {
        "GIT_AUTHOR_NAME": "Ada Lovelace",
        "KEYBOARD_LAYOUT": "germanlayout",
        "SSH_AUTH_SOCK": "/run/agent",
        "MY_API_KEY": "a-long-value",
        "NPM_AUTH": "another-value",
    }
    assert environment_secrets(environ) == {"MY_API_KEY": "a-long-value", "NPM_AUTH": "another-value"}
