"""Folders and files of a project, each with its purpose."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from posixpath import dirname
from typing import NamedTuple

from pydantic import JsonValue

from sidecar.wire.text import plural
from tools.code.definitions import doc_of, strip_comment
from tools.code.graph import Graph
from tools.code.languages import language_name, language_of
from tools.code.manifest import first_paragraph, read_text
from tools.code.outline import outline_of
from tools.code.source import SourceText, text_of
from tools.host import Host

_MAIN_FOLDERS = 14
_FILES = 30
_IMPORTED_FOLDERS = 8
_NAMES = 4


def size_by_language(files: Iterable[str], lines: Mapping[str, int]) -> dict[str, JsonValue]:
    """The lines and the files of each language, most lines first."""
    sizes: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for path in files:
        if (name := language_name(path)) is not None:
            sizes[name] += lines.get(path, 0)
            counts[name] += 1
    ordered = sorted(counts, key=lambda name: (-sizes[name], name))
    by_files: dict[str, JsonValue] = {name: counts[name] for name in ordered}
    return {"languages": {name: sizes[name] for name in ordered}, "languageFiles": by_files}


class Folder(NamedTuple):
    name: str
    files: int
    lines: int
    purpose: str


async def main_folders(host: Host, files: Sequence[str], lines: Mapping[str, int]) -> list[Folder]:
    """Return the folders that hold most code."""
    counts, sizes = await asyncio.to_thread(_count, files, lines)
    names = [name for name, _ in sizes.most_common(_MAIN_FOLDERS)]
    known = await asyncio.to_thread(frozenset, files)
    return [Folder(name, counts[name], sizes[name], await folder_purpose(host, name, known)) for name in sorted(names)]


def _count(files: Sequence[str], lines: Mapping[str, int]) -> tuple[Counter[str], Counter[str]]:
    """Files and lines by folder."""
    code = [path for path in files if language_of(path) is not None]
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for path in code or files:
        top = path.split("/")[0] if "/" in path else "."
        counts[top] += 1
        sizes[top] += lines.get(path, 0)
    main = counts.most_common(1)[0][0] if counts else "."
    if main != "." and counts[main] > 0.5 * counts.total():
        # One folder holds most of the code: list its subfolders instead.
        del sizes[main]
        del counts[main]
        for path in code:
            if path.startswith(f"{main}/"):
                below = "/".join(path.split("/")[:2]) if path.count("/") > 1 else main
                counts[below] += 1
                sizes[below] += lines.get(path, 0)
    return counts, sizes


async def folder_purpose(host: Host, folder: str, files: frozenset[str]) -> str:
    """Return the first sentence of a folder's README or package docstring."""
    if folder == ".":
        return ""
    for name in ("README.md", "__init__.py"):
        path = f"{folder}/{name}"
        if path not in files:
            continue
        text = await read_text(host, path)
        doc = first_paragraph(text) if name.endswith(".md") else doc_of(SourceText(path, text.encode()).root)
        if doc:
            return _first_sentence(doc)
    return ""


def _first_sentence(text: str) -> str:
    line = " ".join(text.split())
    end = line.find(". ")
    line = line if end < 0 else line[: end + 1]
    return line if len(line) <= 110 else f"{line[:109].rstrip()}…"


def folder_table(folders: Sequence[Folder]) -> str:
    rows = [
        f"| `{name}{'' if name == '.' else '/'}` | {files:,} | {lines:,} | {purpose.replace('|', '/')} |"
        for name, files, lines, purpose in folders
    ]
    return "\n".join(["| folder | files | lines | what it is |", "| --- | ---: | ---: | --- |", *rows])


def describe_folder(
    path: str,
    purpose: str,
    lines: Mapping[str, int],
    inside: Sequence[str],
    sources: Mapping[str, SourceText],
    graph: Graph,
) -> str:
    code = [each for each in inside if language_of(each) is not None]
    total = plural(sum(lines.get(each, 0) for each in code), "line")
    parts = [f"**`{path}/`** holds {plural(len(inside), 'file')}, {len(code):,} of them code ({total})."]
    if purpose:
        parts.append(f"> {purpose}")
    if sources:
        shown = [_describe_file(source, path) for source in list(sources.values())[:_FILES]]
        left = [f"- … {len(code) - _FILES} more"] if len(code) > _FILES else []
        parts.append("\n".join([*(f"- {each}" for each in shown), *left]))
    own = set(inside)
    imports = Counter(_folder_of(other) for each in inside for other in graph.edges.get(each, ()) if other not in own)
    users = Counter(_folder_of(each) for each, imported in graph.edges.items() if each not in own and imported & own)
    for title, found in (("Imports from", imports), ("Imported by", users)):
        if found:
            names = ", ".join(f"`{name}` ({count})" for name, count in found.most_common(_IMPORTED_FOLDERS))
            parts.append(f"**{title}** {names}.")
    return "\n\n".join(parts)


def _folder_of(path: str) -> str:
    return f"{dirname(path)}/" if dirname(path) else path


def _describe_file(source: SourceText, folder: str) -> str:
    name = source.path.removeprefix(f"{folder}/")
    summary = _first_sentence(file_purpose(source))
    if not summary:
        outline = outline_of(source)
        names = [each.name for each in outline.items if not each.parent] if outline else []
        more = ", …" if len(names) > _NAMES else ""
        summary = ", ".join(f"`{each}`" for each in names[:_NAMES]) + more
    return f"`{name}`{f' — {summary}' if summary else ''}"


def file_purpose(source: SourceText) -> str:
    """Return the module docstring or the comment at the top, unless it documents the first definition."""
    if source.family == "python":
        return doc_of(source.root)
    comments: list[str] = []
    end = -1
    for child in source.root.children:
        if "comment" not in child.type:
            touches = child.start_point[0] - end <= 1 and end >= 0
            return "" if touches else strip_comment("\n".join(comments))
        if text_of(child).startswith("#!") or "eslint" in text_of(child) or "@ts-" in text_of(child):
            continue
        comments.append(text_of(child))
        end = child.end_point[0]
    return strip_comment("\n".join(comments))
