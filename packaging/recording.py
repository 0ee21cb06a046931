"""Records `make demo` in a terminal as an animated SVG: `python packaging/recording.py`.

Runs the demo in tmux, captures the screen about twenty times a second and writes each different frame with its time.
There is no script in the SVG; with reduced motion it shows the last frame. Two edits: each prompt stays a little
longer, so that you can read the lines above it, and the panel's one-time code is removed.
"""

import html
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "packaging" / "demo.svg"
COLUMNS, ROWS = 100, 36
LONGEST, PAUSE, PATIENCE = 120.0, 0.05, 15.0
#: The last line of the demo, how long the last frame stays, and the pause at each prompt.
END, STAYS, HELD = "Ctrl-C ends the demo", 6.0, 1.6
CELL, LINE, MARGIN, BAR = 8.43, 19, 16, 34
PAPER, INK = "#16181d", "#d8dbe2"
#: The terminal's colours, readable on a dark background.
COLOURS = {31: "#f2777a", 32: "#8fd18b", 33: "#e6c07b", 34: "#7cb8f2", 35: "#cba6f7", 36: "#6fcfd3"}
_SGR = re.compile(r"\x1b\[([0-9;]*)m")
_OTHER = re.compile(r"\x1b[()\]][^\x1b\x07]?|[\x0e\x0f]")


class Picture(NamedTuple):
    at: float
    rows: tuple[str, ...]


class Span(NamedTuple):
    column: int
    text: str
    style: str


def record() -> list[Picture]:
    with tempfile.TemporaryDirectory() as directory:
        tmux = ["tmux", "-S", f"{directory}/tmux", "-f", "/dev/null"]
        demo = [sys.executable, str(ROOT / "packaging" / "demo.py")]
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        subprocess.run([*tmux, "new-session", "-d", *size, *demo], check=True)
        try:
            return list(_pictures(tmux))
        finally:
            _end(tmux)


def _end(tmux: Sequence[str]) -> None:
    """Send Ctrl-C and wait until the demo has cleaned up; the terminal ends with it."""
    subprocess.run([*tmux, "send-keys", "C-c"], check=False, capture_output=True)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if subprocess.run([*tmux, "has-session"], check=False, capture_output=True).returncode:
            return
        time.sleep(PAUSE)
    subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)


def _pictures(tmux: Sequence[str]) -> Iterator[Picture]:
    began, last = time.monotonic(), None
    while (at := time.monotonic() - began) < LONGEST:
        shown = subprocess.run([*tmux, "capture-pane", "-e", "-p"], capture_output=True, text=True, check=True).stdout
        rows = tuple(re.sub(r"#code=[\w-]+", "#code=…", row) for row in shown.split("\n")[:ROWS])
        if rows != last:
            yield Picture(at, rows)
            last = rows
        if END in shown:
            return
        time.sleep(PAUSE)
    raise SystemExit(f"The demo didn't finish within {LONGEST:g} s.")


def split_spans(rows: Sequence[str]) -> list[tuple[Span, ...]]:
    """Split rows where their style changes; a style may continue in the next row."""
    style: set[int] = set()
    return [tuple(_spans(_OTHER.sub("", row), style)) for row in rows]


def _spans(row: str, style: set[int]) -> Iterator[Span]:
    column = place = 0
    for code in [*_SGR.finditer(row), None]:
        text = row[place : code.start() if code else len(row)]
        if text.strip():
            yield Span(column, text.rstrip(), _classes(style))
        column += len(text)
        if code is not None:
            place = code.end()
            _apply(style, [int(number or 0) for number in code[1].split(";")])


def _apply(style: set[int], numbers: Sequence[int]) -> None:
    for number in numbers:
        if number == 0:
            style.clear()
        elif number == 39:
            style.difference_update(COLOURS)
        elif number == 22:
            style.difference_update({1, 2})
        else:
            if number in COLOURS:
                style.difference_update(COLOURS)
            style.add(number)


def _classes(style: set[int]) -> str:
    return " ".join(f"s{number}" for number in sorted(style) if number in (1, 2, *COLOURS))


def draw_svg(pictures: Sequence[Picture]) -> str:
    pictures = list(_with_pauses(pictures))
    whole = pictures[-1].at + STAYS
    width, height = round(COLUMNS * CELL + 2 * MARGIN), ROWS * LINE + BAR + MARGIN
    lines: dict[tuple[Span, ...], int] = {}
    frames = []
    for number, picture in enumerate(pictures):
        used = [
            f'<use href="#l{lines.setdefault(row, len(lines))}" y="{place * LINE}"/>'
            for place, row in enumerate(split_spans(picture.rows))
            if row
        ]
        frames.append(f'<g class="f f{number}">{"".join(used)}</g>')
    texts = [f'<text id="l{number}">{_line(row)}</text>' for row, number in lines.items()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img"'
            ' xml:space="preserve" aria-labelledby="title">',
            '<title id="title">A terminal: brain run creates a Python package, renames a function in it, and runs its'
            " tests; everything it did was verified.</title>",
            f"<style>{_styles(pictures, whole)}</style>",
            f'<rect width="{width}" height="{height}" rx="9" fill="{PAPER}"/>',
            *(f'<circle cx="{MARGIN + 6 + 20 * place}" cy="17" r="5.5" fill="#3d4350"/>' for place in range(3)),
            f"<defs>{''.join(texts)}</defs>",
            f'<g transform="translate({MARGIN} {BAR + 12})">',
            *frames,
            "</g></svg>\n",
        ]
    )


def _with_pauses(pictures: Sequence[Picture]) -> Iterator[Picture]:
    """Start at zero, and add a pause at every prompt."""
    late = -pictures[0].at
    for picture in pictures:
        yield Picture(picture.at + late, picture.rows)
        last = next((row for row in reversed(picture.rows) if row.strip()), "")
        late += HELD if _SGR.sub("", last).startswith("$ ") else 0


def _line(row: Sequence[Span]) -> str:
    return "".join(
        f'<tspan x="{span.column * CELL:.1f}"{f" class={chr(34)}{span.style}{chr(34)}" if span.style else ""}>'
        f"{html.escape(span.text, quote=False)}</tspan>"
        for span in row
    )


def _styles(pictures: Sequence[Picture], whole: float) -> str:
    rules = [
        f"text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:{INK};"
        "white-space:pre}",
        ".s1{font-weight:700}.s2{opacity:.62}",
        *(f".s{number}{{fill:{colour}}}" for number, colour in COLOURS.items()),
        f".f{{visibility:hidden}}.f{len(pictures) - 1}{{visibility:visible}}",
        "@media (prefers-reduced-motion:no-preference){",
    ]
    for number, picture in enumerate(pictures):
        start = picture.at / whole * 100
        end = pictures[number + 1].at / whole * 100 if number + 1 < len(pictures) else 100
        first = "visible" if number == 0 else "hidden"
        rules.append(
            f"@keyframes k{number}{{0%{{visibility:{first}}}{start:.2f}%{{visibility:visible}}"
            f"{end:.2f}%,100%{{visibility:{'hidden' if end < 100 else 'visible'}}}}}"
            f".f{number}{{animation:k{number} {whole:.1f}s step-end infinite}}"
        )
    return "".join([*rules, "}"])


def main() -> int:
    pictures = record()
    TARGET.write_text(draw_svg(pictures), encoding="utf-8")
    size = TARGET.stat().st_size // 1024
    print(f"{TARGET.relative_to(ROOT)}: {len(pictures)} frames, {pictures[-1].at:.1f} s, {size} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
