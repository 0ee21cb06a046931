"""Globs of paths as .gitignore has them: without a slash they are of names, with one of whole paths; ** is any folders.

ripgrep's own globs win over what .gitignore names, and over each other: `src/**` lists what was to be left out, and `*`
what is in `.git`. So what it lists without them is matched here.
"""

import re
from collections.abc import Callable


def matcher(pattern: str) -> Callable[[str], bool]:
    """Raises ValueError for what is no glob."""
    anchored = "/" in pattern.rstrip("/")
    pattern = pattern.strip("/")
    expression = _expression(pattern if anchored else f"**/{pattern}")
    matches = re.compile(expression, re.DOTALL).fullmatch
    return lambda path: matches(path) is not None


def _expression(pattern: str) -> str:
    parts: list[str] = []
    depth = place = 0
    while place < len(pattern):
        character = pattern[place]
        if pattern.startswith("**/", place) and (place == 0 or pattern[place - 1] in "/{,"):
            parts.append("(?:[^/]+/)*")
            place += 3
            continue
        if pattern.startswith("**", place):
            parts.append(".*")
            place += 2
            continue
        if character == "[":
            end = pattern.find("]", place + 2)
            if end < 0:
                raise ValueError("there is a [ without its ]")
            within = pattern[place + 1 : end].replace("\\", r"\\").replace("[", r"\[")
            parts.append(f"(?!/)[{'^' + within[1:] if within[0] in '!^' else within}]")
            place = end + 1
            continue
        if character == "\\" and place + 1 < len(pattern):
            parts.append(re.escape(pattern[place + 1]))
            place += 2
            continue
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            raise ValueError("there is a } without its {")
        parts.append(_ALONE.get(character) or ("|" if character == "," and depth else re.escape(character)))
        place += 1
    if depth:
        raise ValueError("there is a { without its }")
    return "".join(parts)


_ALONE = {"*": "[^/]*", "?": "[^/]", "{": "(?:", "}": ")"}
