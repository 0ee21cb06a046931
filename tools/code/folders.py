"""The folders of a project that hold most of its code, each with what it says that it is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tools.code.definitions import doc_of
from tools.code.languages import language_of
from tools.code.manifest import first_paragraph, read_text
from tools.code.source import Source
from tools.host import Host

_FOLDERS = 14


class Folder(NamedTuple):
    name: str
    files: int
    lines: int
    purpose: str


async def main_folders(host: Host, files: Sequence[str], lines: Mapping[str, int]) -> list[Folder]:
    """The folders that hold most code, each with its files, its lines, and what it says that it is."""
    code = [path for path in files if language_of(path) is not None]
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path in code or files:
        top = path.split("/")[0] if "/" in path else "."
        counts[top] += 1
        sizes[top] += lines.get(path, 0)
    main = counts.most_common(1)[0][0] if counts else "."
    if main != "." and counts[main] > 0.5 * counts.total():
        # One folder holds nearly everything: what is in it says more.
        del sizes[main]
        del counts[main]
        for path in code:
            if path.startswith(f"{main}/"):
                below = "/".join(path.split("/")[:2]) if path.count("/") > 1 else main
                counts[below] += 1
                sizes[below] += lines.get(path, 0)
    names = [name for name, _ in sizes.most_common(_FOLDERS)]
    known = frozenset(files)
    return [Folder(name, counts[name], sizes[name], await purpose(host, name, known)) for name in sorted(names)]


async def purpose(host: Host, folder: str, files: frozenset[str]) -> str:
    if folder == ".":
        return ""
    for name in ("README.md", "__init__.py", "index.ts", "mod.rs", "doc.go"):
        path = f"{folder}/{name}"
        if path not in files:
            continue
        text = await read_text(host, path)
        if name.endswith(".md"):
            said = first_paragraph(text)
        else:
            said = doc_of(Source(path, text.encode()).root) if name == "__init__.py" else ""
        if said:
            return first_sentence(said)
    return ""


def first_sentence(text: str) -> str:
    line = " ".join(text.split())
    end = line.find(". ")
    line = line if end < 0 else line[: end + 1]
    return line if len(line) <= 110 else f"{line[:109].rstrip()}…"


def table(folders: Sequence[Folder]) -> str:
    rows = [
        f"| `{name}{'' if name == '.' else '/'}` | {files:,} | {lines:,} | {said.replace('|', '/')} |"
        for name, files, lines, said in folders
    ]
    return "\n".join(["| folder | files | lines | what it is |", "| --- | ---: | ---: | --- |", *rows])
