"""`brain` in a terminal, as somebody types in it."""

import json
from contextlib import suppress
from pathlib import Path

from tests.e2e.terminal import OnTerminal, brain, command, newest, on_terminal, script
from tests.waiting import wait_until

EVIL = "evil \x1b]0;owned\x07\x1b[2J\x9b31m end"


def ask(terminal: OnTerminal, text: str) -> None:
    terminal.wait_for("mode ask")
    terminal.press(f"{text}\r")


def shows(terminal: OnTerminal, text: str, seconds: float) -> bool:
    with suppress(AssertionError):
        terminal.wait_for(text, seconds=seconds)
        return True
    return False


def test_a_session_runs_a_task_takes_messages_and_stops_with_escape(home: dict[str, str], workspace: Path) -> None:
    with on_terminal(environ=home, cwd=workspace) as terminal:
        ask(terminal, "list the files")
        terminal.wait_for("notes.txt")
        terminal.wait_for("Completed in")
        terminal.press("!echo from-my-$((40+2))\r")
        terminal.wait_for("from-my-42")
        terminal.press("/resume\r")
        terminal.wait_for("Go back to one")
        terminal.press("/clear\r")
        terminal.wait_for("A new conversation")
        terminal.press("/model foo\r")
        terminal.wait_for("foo is no model")
        terminal.press("/frobnicate\r")
        terminal.wait_for("There is no command /frobnicate.")
        terminal.press("run `sleep 600`\r")
        terminal.wait_for("run_command sleep 600")
        terminal.press("leave the tests alone\r")
        terminal.wait_for("› leave the tests alone")
        terminal.press("\x1b")
        terminal.wait_for("Cancelled after")
        terminal.press("\x04")
        assert terminal.exit_code() == 0
    assert len(brain("tasks", "--json", environ=home).stdout.splitlines()) == 2
    assert (Path(home["BRAIN_DATA_DIR"]) / "typed").stat().st_mode & 0o777 == 0o600


def test_s39_only_an_answer_to_a_question_that_was_seen_approves(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "asks", {"text": EVIL, **command("touch proof; echo ok")}, {"text": "done"})
    with on_terminal(environ=home, cwd=workspace) as terminal:
        terminal.wait_for("mode ask")
        terminal.press(f"/model {model}\r")
        terminal.wait_for("Your next message uses")
        terminal.press("/run the thing\r")
        # Somebody types on while the approval arrives.
        while not shows(terminal, "Allow?", 0.02):
            terminal.press("y")
        terminal.press("\ry\r")
        terminal.wait_for("doesn't count")
        terminal.press("also run lint\r")
        terminal.wait_for("› also run lint")
        assert not (workspace / "proof").exists()
        assert newest(home)["status"] == "waiting"
        # Now after a look at it.
        while not shows(terminal, "Allowed", 1.5):
            terminal.press("y\r")
        wait_until((workspace / "proof").exists, what="the command")
        assert "evil \\x1b]0;owned" in terminal.text
        assert "\x1b]0;" not in terminal.raw
        assert "\x9b" not in terminal.raw
        terminal.press("\x04")
        assert terminal.exit_code() == 0


def test_a_command_is_declined_with_a_reason_in_a_session(home: dict[str, str], workspace: Path) -> None:
    model = script(home, "asks", command("touch proof"), {"text": "done"})
    with on_terminal(environ=home, cwd=workspace) as terminal:
        ask(terminal, f"/model {model}")
        terminal.wait_for("Your next message uses")
        terminal.press("/run the thing\r")
        terminal.wait_for("Allow?")
        while not shows(terminal, "Denied", 1.5):
            terminal.press("n write notes.txt instead\r")
        terminal.wait_for("Completed in")
        terminal.press("\x04")
        assert terminal.exit_code() == 0
        assert "› write notes.txt instead" in terminal.text
    assert not (workspace / "proof").exists()


def test_a_session_completes_recalls_edits_undoes_and_attaches(home: dict[str, str], workspace: Path) -> None:
    (workspace / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (workspace / "sum.py").write_text("from calc import add\n\nprint(add(1, 2))\n")
    (workspace / "shot.png").write_bytes(b"not really a picture")
    with on_terminal(environ=home, cwd=workspace, columns=60) as terminal:
        terminal.wait_for("mode ask")
        # A command that isn't typed to its end is not sent.
        terminal.press("/ef")
        terminal.wait_for("/effort")
        terminal.press("\r")
        terminal.press("high\r")
        terminal.wait_for("runs with effort high")
        terminal.press("/und\r")
        wait_until(lambda: "did you mean /undo" in terminal.text or "› /undo" in terminal.text, what="what was meant")
        terminal.press("\x15/undo\r")
        terminal.wait_for("There is no task yet")
        # @ completes a file with Tab; Up and Ctrl-R bring back what was typed.
        terminal.press("explain @cal")
        terminal.wait_for("calc.py")
        terminal.press("\t\r")
        terminal.wait_for("Described 1 file")
        terminal.wait_for("Completed in")
        terminal.press("/clear\r")
        terminal.wait_for("A new conversation")
        terminal.press("rename add to plus\r")
        wait_until(lambda: "plus" in (workspace / "sum.py").read_text(), what="the rename")
        # Colours, and the name of each of several files.
        terminal.wait_for("    sum.py")
        assert "\x1b[32m+def plus(a, b):" in terminal.raw
        wait_until(lambda: newest(home)["status"] in ("completed", "waiting"), what="the check")
        if newest(home)["status"] == "waiting":
            while not shows(terminal, "Denied", 1.5):
                terminal.press("n\r")
        wait_until(lambda: newest(home)["status"] == "completed", what="the end")
        terminal.wait_for("~ sum.py  +2 -2")  # the preview of the rename counts as no change
        terminal.press("/diff\r")
        terminal.wait_for("diff --git a/sum.py b/sum.py")
        terminal.press("/undo\r")
        wait_until(lambda: "plus" not in (workspace / "sum.py").read_text(), what="the undo")
        terminal.wait_for("A message continues it")
        terminal.press("/clear\r\x12rename")
        terminal.wait_for("I-search backward: rename")
        terminal.press("\x03")
        terminal.press("what is on shot.png?\r")
        terminal.wait_for("Attached shot.png")
        terminal.press("\x04")
        assert terminal.exit_code() == 0
    tasks = [json.loads(line)["task"] for line in brain("tasks", "--json", environ=home).stdout.splitlines()]
    assert "/und" not in tasks and "/ef" not in tasks, tasks
    assert "rename add to plus" in tasks


def test_escape_at_an_approval_ends_the_question_and_a_narrower_terminal_gets_narrower_lines(
    home: dict[str, str], workspace: Path
) -> None:
    model = script(home, "asks", command("touch proof"), {"text": "done"})
    with on_terminal(environ=home, cwd=workspace) as terminal:
        ask(terminal, f"/model {model}")
        terminal.wait_for("Your next message uses")
        terminal.press("/run the thing\r")
        terminal.wait_for("Allow?")
        terminal.press("\x1b")
        terminal.wait_for("Cancelled after")
        terminal.wait_for("a message continues it.")
        wait_until(lambda: "›" in terminal.text.rpartition("a message continues it.")[2], what="the prompt")
        drawn, shown = len(terminal.raw), len(terminal.text)
        terminal.resize(40)
        wait_until(lambda: len(terminal.raw) > drawn, what="the prompt drawn again")
        terminal.press("/help\r")
        wait_until(lambda: "for its next step." in terminal.text[shown:], what="the keys")
        rows = terminal.text[shown:].splitlines()
        assert "  /effort     how much models that" in rows, "\n".join(rows)
        assert not any("Allow?" in row for row in rows)
        terminal.press("\x04")
        assert terminal.exit_code() == 0
    assert newest(home)["status"] == "cancelled"
    assert not (workspace / "proof").exists()


def test_a_session_works_without_colours_on_a_terminal_that_cannot_redraw(
    home: dict[str, str], workspace: Path
) -> None:
    model = script(home, "asks", command("touch proof; echo ok"), {"text": "**done**"})
    with on_terminal(environ={**home, "NO_COLOR": "1"}, term="dumb", cwd=workspace) as terminal:
        terminal.wait_for("> ")
        terminal.press(f"/model {model}\n")
        terminal.wait_for("Your next message uses")
        terminal.press("/run the thing\n")
        terminal.wait_for("Allow?")
        while not shows(terminal, "Allowed", 1.5):
            terminal.press("y\n")
        terminal.wait_for("Completed in")
        terminal.press("/quit\n")
        assert terminal.exit_code() == 0
        assert "\x1b" not in terminal.raw
