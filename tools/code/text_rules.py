"""Rules that need no syntax: conflict markers, leftovers, files that do not belong here."""

import json
import re
import tomllib

from tools.code.review import Finding, Subject
from tools.protected import secret_part

_CONFLICT = re.compile(r"<{7}(\s|$)")
_LEFTOVER = re.compile(r"(\.(orig|rej|bak|swp|swo|tmp)|~)$|(^|/)(\.DS_Store|Thumbs\.db)$")
_LARGE = 500_000
_LONG = 1_000


def text_rules(subject: Subject) -> list[Finding]:
    found = _file(subject)
    for number, line in enumerate(subject.text.splitlines(), 1):
        if not subject.counts(number):
            continue
        if _CONFLICT.match(line):
            message = "A conflict marker of a merge stands here."
            found.append(Finding(subject.path, number, "error", message, "choose one side and delete the markers."))
    return found


def left_over(path: str) -> Finding | None:
    """For what its name says already, whatever is in it."""
    if _LEFTOVER.search(path):
        return Finding(path, 0, "warning", "This is left over from a merge, an editor or a backup.", "delete it.")
    if secret_part(path):
        message = "A file of this name usually holds secrets."
        return Finding(path, 0, "error", message, "take it out of the repository and name it in .gitignore.")
    return None


def _file(subject: Subject) -> list[Finding]:
    found = []
    if subject.created and len(subject.content) > _LARGE:
        size = f"{len(subject.content) / 1_000_000:.1f} MB"
        found.append(Finding(subject.path, 0, "warning", f"A file of {size} is added.", "keep large files elsewhere."))
    lines = subject.content.count(b"\n")
    if (subject.created or subject.lines is None) and lines > _LONG and subject.source.language is not None:
        message = f"It has {lines} lines, more than anyone reads at once."
        found.append(Finding(subject.path, 1, "hint", message, "split it by what it is about."))
    return [*found, *_data(subject)]


def _data(subject: Subject) -> list[Finding]:
    try:
        if subject.path.endswith(".json") and not subject.path.rpartition("/")[2].startswith(("tsconfig", "jsconfig")):
            json.loads(subject.content)
        elif subject.path.endswith(".toml"):
            tomllib.loads(subject.text)
    except json.JSONDecodeError as error:
        return [Finding(subject.path, error.lineno, "error", f"This is no valid JSON: {error.msg}.", "correct it.")]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        said = re.search(r"line (\d+)", str(error))
        line = int(said[1]) if said else 1
        return [Finding(subject.path, line, "error", f"This is no valid TOML: {error}.", "correct it.")]
    return []
