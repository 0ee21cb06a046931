"""What is taken out of a text, and what is left alone."""

from pydantic import JsonValue

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


def test_one_secret_among_thousands_of_texts_is_taken_out_and_all_else_stays() -> None:
    redact = Redactor(lambda: {"known": "line one\nline two"})
    plain: list[JsonValue] = [
        {"path": f"folder/file{number}.py", "state": "A ", "lines": number} for number in range(3_000)
    ]
    assert redact.json({"changes": plain}) == {"changes": plain}
    for secret in ("ghp_" + "a1B2" * 10, "line one\nline two"):
        found = redact.json({"changes": [*plain, {"path": f"x {secret}"}], "more": secret})
        assert isinstance(found, dict) and found == redact.json(
            {"changes": [*plain, {"path": f"x {secret}"}], "more": secret}, redact
        )
        assert secret not in str(found) and "folder/file2999.py" in str(found)
