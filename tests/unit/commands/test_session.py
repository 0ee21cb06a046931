"""A session's parts without a terminal: answers, folding, images, completion."""

import random
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from sidecar.commands.errors import CommandFailed
from sidecar.commands.session.answers import QUIET_SECONDS, AnswerGate
from sidecar.commands.session.conversation import MAX_BYTES, attach, find_images
from sidecar.commands.session.prompt import HISTORY_BYTES, SessionCompleter, open_history
from sidecar.commands.session.renderer import SessionRenderer
from sidecar.commands.text import Style


def test_a_line_counts_once_its_question_was_seen_for_a_moment() -> None:
    gate = AnswerGate()
    gate.show("a_1", 10)
    gate.key(10 + QUIET_SECONDS, empty=False)
    assert gate.submit("a_1", 11)
    # The next approval has to be seen too.
    gate.show("a_2", 12)
    gate.key(12.1, empty=False)
    assert not gate.submit("a_2", 20)
    gate.key(21, empty=False)
    assert gate.submit("a_2", 21)


def test_a_line_begun_before_its_question_never_counts() -> None:
    gate = AnswerGate()
    gate.key(1, empty=False)
    gate.show("a_1", 2)
    assert not gate.submit("a_1", 100)
    assert not gate.submit("", 200)


def test_typing_at_any_moment_approves_nothing() -> None:
    """Keys without a pause of the quiet time, and approvals at random moments between them."""
    chosen = random.Random(39)
    for _ in range(1_000):
        gate, now, shown = AnswerGate(), 0.0, ""
        for number in range(40):
            now += chosen.uniform(0, QUIET_SECONDS * 0.99)
            match chosen.randrange(4):
                case 0:
                    shown = f"a_{number}"
                    gate.show(shown, now)
                case 1:
                    assert not gate.submit(shown, now)
                    # An empty line isn't an answer; the next key begins a new one.
                    gate.key(now, empty=False)
                case _:
                    gate.key(now, empty=chosen.random() < 0.2)


def test_reading_calls_fold_into_one_line_and_edits_show_their_diff() -> None:
    renderer = SessionRenderer(Style(colour=False), 100)

    def call(number: int, tool: str, details: object = None) -> list[str]:
        event = {"type": "tool", "seq": number, "callId": str(number), "tool": tool, "status": "success", "args": {}}
        return renderer.render({**event, "summary": "x", "durationMs": 1, "cached": False, "details": details})

    assert call(1, "read_file") == call(2, "read_file") == call(3, "list_dir") == []
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-old\x1b[2J\n+new"
    lines = call(4, "edit_file", {"files": [{"diff": diff}]})
    assert lines[0] == "  ✓ Read 2 files, listed a directory"
    assert lines[2:] == ["    @@ -1 +1 @@", "    -old\\x1b[2J", "    +new"]
    assert len(renderer.last_fold) == 3
    assert call(5, "edit_file", {"files": [{"diff": None}, 7]})[1:] == []
    two: dict[str, object] = {"files": [{"path": "a", "diff": diff}, {"path": "b", "diff": diff}]}
    assert [row for row in call(6, "rename_symbol", two) if "@@" not in row][1:5:3] == ["    a", "    b"]
    assert call(7, "rename_symbol", {**two, "preview": True})[1:] == [], "a preview changes nothing"


def test_images_are_found_by_path_and_large_ones_refused(tmp_path: Path) -> None:
    for name in ("a.png", "with space.jpg", "c.txt"):
        (tmp_path / name).write_bytes(b"x")
    text = f"compare a.png, 'with space.jpg' and @a.png {tmp_path}/with\\ space.jpg c.txt missing.png"
    assert find_images(text, tmp_path) == [tmp_path / "a.png", tmp_path / "with space.jpg"]
    assert find_images("what is on a.png?", tmp_path) == [tmp_path / "a.png"]
    assert attach(tmp_path / "a.png") == {"name": "a.png", "mediaType": "image/png", "data": "eA=="}
    (tmp_path / "a.png").write_bytes(bytes(MAX_BYTES + 1))
    with pytest.raises(CommandFailed, match="nothing was sent"):
        attach(tmp_path / "a.png")


def test_slash_words_and_files_are_completed_but_no_name_that_drives_the_terminal() -> None:
    files = ["src/app.py", "evil\x1b[2J.py"]
    completer = SessionCompleter({"model": "choose", "mode": ""}, lambda part: files if part == "app" else [])

    def complete(text: str) -> list[str]:
        return [each.text for each in completer.get_completions(Document(text), CompleteEvent())]

    assert complete("/mod") == ["/model ", "/mode "]
    assert complete("see @app") == ["@src/app.py "]
    assert complete("mail me@app") == complete("/model x") == []


def test_what_you_typed_is_kept_in_a_private_file_of_limited_size(tmp_path: Path) -> None:
    path = tmp_path / "typed"
    history = open_history(path)
    history.store_string("first")
    assert path.stat().st_mode & 0o777 == 0o600
    while path.stat().st_size <= HISTORY_BYTES:
        history.store_string("later " * 1_000)
    kept = list(open_history(path).load_history_strings())
    assert path.stat().st_size < HISTORY_BYTES
    assert set(kept) == {"later " * 1_000}
