"""What a folder holds: its files with what each is for, and which other folders it imports and is imported by."""

from collections import Counter
from collections.abc import Mapping, Sequence
from posixpath import dirname

from tools.code.folders import first_sentence
from tools.code.graph import Graph
from tools.code.outline import outlined
from tools.code.purpose import purpose_of
from tools.code.source import Source

_FILES = 30
_FOLDERS = 8
_NAMES = 4


def told_folder(path: str, said: str, inside: Sequence[str], sources: Mapping[str, Source], graph: Graph) -> str:
    lines = sum(source.content.count(b"\n") for source in sources.values())
    parts = [f"**`{path}/`** holds {len(inside)} files, {len(sources)} of them code ({lines:,} lines)."]
    if said:
        parts.append(f"> {said}")
    shown = [f"- {_file(source, path)}" for source in list(sources.values())[:_FILES]]
    if len(sources) > _FILES:
        shown.append(f"- … {len(sources) - _FILES} more")
    if shown:
        parts.append("\n".join(shown))
    own = set(inside)
    imports = Counter(_place(other) for each in inside for other in graph.edges.get(each, ()) if other not in own)
    users = Counter(_place(each) for each, imported in graph.edges.items() if each not in own and imported & own)
    for title, found in (("Imports from", imports), ("Imported by", users)):
        if found:
            names = ", ".join(f"`{name}` ({count})" for name, count in found.most_common(_FOLDERS))
            parts.append(f"**{title}** {names}.")
    return "\n\n".join(parts)


def _place(path: str) -> str:
    return f"{dirname(path)}/" if dirname(path) else path


def _file(source: Source, folder: str) -> str:
    name = source.path.removeprefix(f"{folder}/")
    said = first_sentence(purpose_of(source))
    if not said:
        outline = outlined(source.path, source.content)
        names = [each.name for each in outline.symbols if not each.parent] if outline else []
        more = ", …" if len(names) > _NAMES else ""
        said = ", ".join(f"`{each}`" for each in names[:_NAMES]) + more
    return f"`{name}`{f' — {said}' if said else ''}"
