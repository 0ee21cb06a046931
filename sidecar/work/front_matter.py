"""The head of a Markdown file: `key: value` lines between two lines of dashes; lists and long texts take several."""

import re

_QUOTED = re.compile(r"""(["'])(.*)\1""")


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """What the head says, by keys in small letters, and what follows it. The items of a list have commas between."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}, text.strip()
    front: dict[str, list[str]] = {}
    key = ""
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == "---":
            return {name: _joined(values) for name, values in front.items()}, "\n".join(lines[number + 1 :]).strip()
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if key and line.startswith((" ", "\t", "- ")):
            front[key].append(line.strip())
            continue
        key, colon, value = line.partition(":")
        if not colon:
            raise ValueError(f"line {number + 1} is not `key: value`")
        key = key.strip().lower()
        front[key] = [value.strip()]
    raise ValueError("the front matter does not end: a second line of --- is missing")


def _joined(values: list[str]) -> str:
    """A value, with the lines that follow it: items of a list, or the text that `>` or `|` begins."""
    first, *more = values
    if more and all(line.startswith("- ") for line in more):
        return ", ".join(_plain(line[2:]) for line in more)
    return " ".join([*([] if more and first[:1] in (">", "|") else [_plain(first)]), *more])


def _plain(value: str) -> str:
    quoted = _QUOTED.fullmatch(value.strip())
    return quoted[2] if quoted else value.strip()
