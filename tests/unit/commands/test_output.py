import io

import pytest

from sidecar.commands import output
from sidecar.commands.output import PlainScreen, TerminalScreen


class Screenful(io.StringIO):
    """A very small terminal: what is on it after the writing, with rows erased as they are told to be."""

    def shown(self) -> list[str]:
        rows, at = [""], 0
        text = self.getvalue()
        while text:
            if text.startswith("\x1b[2K"):
                rows[at], text = "", text[4:]
            elif text.startswith("\x1b[1A"):
                at, text = at - 1, text[4:]
            elif text[0] == "\n":
                at, text = at + 1, text[1:]
                if at == len(rows):
                    rows.append("")
            elif text[0] == "\r":
                text = text[1:]
            else:
                rows[at] += text[0]
                text = text[1:]
        return [row for row in rows if row]


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "terminal_columns", lambda: 20)


def test_what_is_drawn_is_replaced_and_what_is_said_stays() -> None:
    stream = Screenful()
    terminal = TerminalScreen(stream)
    terminal.draw(["one", "two", "three"])
    terminal.draw(["four", "five"])
    terminal.print(["said"])
    terminal.draw(["six"])
    assert stream.shown() == ["said", "six"]
    terminal.draw([])
    assert stream.shown() == ["said"]


def test_a_row_that_would_wrap_is_never_drawn() -> None:
    stream = Screenful()
    TerminalScreen(stream).draw(["x" * 20, "short"])
    assert stream.shown() == ["short"]


def test_a_question_stays_below_what_is_said_meanwhile_and_nothing_is_drawn_over_it() -> None:
    stream = Screenful()
    terminal = TerminalScreen(stream)
    terminal.draw(["busy"])
    terminal.ask("Allow? ")
    terminal.draw(["busy"])
    terminal.print(["meanwhile"])
    assert stream.shown() == ["Allow? ", "meanwhile", "Allow? "]
    terminal.answered(here=False)
    terminal.draw(["busy"])
    assert stream.shown()[-1] == "busy"


def test_plain_lines_have_no_live_part() -> None:
    stream = io.StringIO()
    plain = PlainScreen(stream)
    plain.draw(["busy"])
    plain.ask("Allow? ")
    plain.print(["said"])
    assert stream.getvalue() == "said\n"
