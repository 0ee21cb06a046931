"""The words of command lines and scripts that may name a file that runs, and the programs that they start."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from tools.parsed import parse_json

MAX_WORDS = 2_000
_QUOTING = re.compile(r"[\\'\"]")
_WORDS = re.compile(r"[^\s;|&()<>`$={},]+")
_REFERENCES = re.compile(r"[\w./@+*?~-]+")
_OUTPUTS = re.compile(r">{1,2}[|&]?\s*[\"']?([^\s;|&()<>`\"']+)")
#: A variable, or a command whose output the shell inserts, in front of a path: "$HERE/x", "$(dirname "$0")/x".
_INSERTED = re.compile(r"\$\{?\w+[^}\s/\"']*\}?|\$\([^()]*\)|`[^`]*`")
_IMPORTED = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([\w, \t]+)", re.MULTILINE)
#: A line that runs or includes the file that it names, whatever the file is called.
_EVALUATES = re.compile(
    r"(?:^|[\s;&|(`\"'@])(?:\.|source|eval|exec|execfile|[a-z]*sh|python[\d.]*|node|perl|ruby|php|awk|sed|make|xargs|env"
    r"|-?include|require\w*|load\w*|import\w*|run\w*|spawn\w*|system|popen|subprocess|compile)(?:[\s(\"'.\[:]|$)",
    re.IGNORECASE,
)
#: Where a program may be named in a script: at the start of a line, of a command, or of a quoted text.
_STARTS = re.compile(
    r"(?:^\s*|[;&|(\[`\"'{]\s*|\b(?:do|then|else|exec|env|time|nice|run|cmd|command)[:\s]\s*)(?:[@-]\s*)?([\w./+-]+)"
)
_PACKAGE_ENTRIES = ("main", "module", "exports", "bin", "browser", "workspaces")


def words_of(command: str | Sequence[str]) -> list[str]:
    """Every word of a command line that may name a file, also as the value of an option."""
    found: dict[str, None] = {}
    lines = [command] if isinstance(command, str) else list(command)
    if not isinstance(command, str):
        found.update(dict.fromkeys(command))
    for line in lines:
        inputs = _OUTPUTS.sub(" ", line)
        # As the shell reads it; as it may be read again; without what is inserted.
        for text in (inputs, _QUOTING.sub("", inputs), _INSERTED.sub("", inputs)):
            for word in _WORDS.findall(text):
                found.update(dict.fromkeys(_spellings(word.strip("\"'\\"))))
        found.update(dict.fromkeys(_quoted(inputs)))
    return [word for word in found if _is_sound(word)][:MAX_WORDS]


def references(text: str) -> Iterator[tuple[str, bool]]:
    """Words of a script that may name a file, and whether its line runs or includes what it names."""
    count = 0
    for line in text.splitlines():
        inputs = _INSERTED.sub("", _OUTPUTS.sub(" ", line))
        runs = _EVALUATES.search(line) is not None
        for word in _REFERENCES.findall(inputs):
            count += 1
            if count > MAX_WORDS:
                return
            if _is_sound(word):
                yield word, runs


def programs(text: str) -> list[str]:
    """Words of a script in the place of a program."""
    found: dict[str, None] = {}
    for line in text.splitlines()[:MAX_WORDS]:
        found.update(dict.fromkeys(_STARTS.findall(line[:2_000])))
    return list(found)[:MAX_WORDS]


def imported(text: str) -> Iterator[str]:
    """Modules that may be meant by `from package import name`; without the dots of a relative import."""
    for package, names in _IMPORTED.findall(text):
        for name in re.split(r"[,\s]+", names):
            if name:
                yield f"{package.strip('.')}.{name}".strip(".")


def package_text(text: str) -> str:
    """What package.json runs or loads: one script or path in a line."""
    try:
        package = parse_json(text)
        return "\n".join(_strings({"scripts": package.get("scripts"), **{k: package.get(k) for k in _PACKAGE_ENTRIES}}))
    except (ValueError, AttributeError):
        return text


def workspace_patterns(text: str) -> list[str]:
    """Where package.json says that its workspaces are."""
    try:
        found = parse_json(text).get("workspaces") or []
        found = found.get("packages") or [] if isinstance(found, dict) else found
        return [each for each in found if isinstance(each, str)][:20]
    except (ValueError, AttributeError, TypeError):
        return []


def _spellings(word: str) -> Iterator[str]:
    yield word
    if word.startswith("-"):
        yield word[2:]
    if ":" in word:
        yield from word.split(":")


def _quoted(line: str) -> Iterable[str]:
    try:
        words = shlex.split(line)
    except ValueError:
        return
    for word in words:
        yield word
        if word.startswith("-"):
            yield word.partition("=")[2] or word[2:]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _is_sound(word: str) -> bool:
    return bool(word) and "\0" not in word and len(word) < 4_096
