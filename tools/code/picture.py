"""The folders of a project and what they import of each other, as a Mermaid graph."""

from collections import Counter
from collections.abc import Collection

from tools.code.files import is_test
from tools.code.graph import Graph

NODES = 14
_EDGES = 40
_DEEPEST = 4


def folders(files: Collection[str]) -> dict[str, str]:
    """The folder that stands for each file: as deep as it must be for a picture to say something."""
    for depth in range(1, _DEEPEST + 1):
        chosen = {path: _cut(path, depth) for path in files}
        counts = Counter(chosen.values())
        largest = counts.most_common(1)[0][1] if counts else 0
        if len(counts) >= NODES // 2 or (len(counts) > 2 and largest < 0.6 * len(files)):
            return chosen
    return {path: _cut(path, _DEEPEST) for path in files}


def _cut(path: str, depth: int) -> str:
    parts = path.split("/")[:-1][:depth]
    return "/".join(parts) or "."


def mermaid(graph: Graph) -> tuple[str, str]:
    """The picture, and what was left out of it. Nothing where no folder imports another."""
    # Tests import everything, and would hide the rest.
    edges_of = {path: imported for path, imported in graph.edges.items() if not is_test(path)}
    files = {*edges_of, *(each for imported in edges_of.values() for each in imported)}
    place = folders(files)
    weights: Counter[tuple[str, str]] = Counter()
    for importer, imported in edges_of.items():
        for each in imported:
            if place[importer] != place[each]:
                weights[place[importer], place[each]] += 1
    sizes: Counter[str] = Counter()
    for (one, other), weight in weights.items():
        sizes[one] += weight
        sizes[other] += weight
    shown = {name for name, _ in sizes.most_common(NODES)}
    edges = [(pair, weight) for pair, weight in weights.most_common() if shown.issuperset(pair)]
    if not edges:
        return "", ""
    names = {name: f"n{number}" for number, name in enumerate(sorted(shown), 1)}
    lines = ["graph LR", *(f'  {names[name]}["{_label(name)}"]' for name in sorted(shown))]
    lines += [f"  {names[one]} -->|{weight}| {names[other]}" for (one, other), weight in sorted(edges[:_EDGES])]
    left = []
    if len(sizes) > len(shown):
        left.append(f"{len(sizes) - len(shown)} smaller folders")
    if len(edges) > _EDGES:
        left.append(f"{len(edges) - _EDGES} weaker edges")
    return "\n".join(lines), " and ".join(left)


def _label(name: str) -> str:
    """A name that Mermaid takes as it is."""
    return "".join(char if char.isalnum() or char in "/._-@+ " else f"#{ord(char)};" for char in name) or "."
