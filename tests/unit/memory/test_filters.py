"""A filter applies before the best are chosen: the best of a folder may be far down among all."""

from pathlib import Path

from sidecar.memory.answers import answer_search
from sidecar.memory.builder import refresh
from sidecar.memory.port import SearchRequest
from sidecar.memory.store import open_store

MANY = 400


def test_a_weak_match_in_the_asked_folder_is_found_among_many_strong_ones(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    files = {f"core/parse_tree_{n}.py": f"def parse_tree_{n}(tree):\n    return tree\n" for n in range(MANY)}
    files["web/page.py"] = "def show(page):\n    # the tree comes last\n    return page\n"
    files["web/page.ts"] = "export function show(page) {\n  return page.tree\n}\n"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    store = open_store(tmp_path / "index.db")
    refresh(store, str(root), list(files))

    def paths(search: SearchRequest) -> set[str]:
        return {hit.path for hit in answer_search(store, str(root), search)[0]}

    assert paths(SearchRequest("parse tree", path="web")) == {"web/page.py", "web/page.ts"}
    assert paths(SearchRequest("parse tree", language="typescript")) == {"web/page.ts"}
    assert all(path.startswith("core/") for path in paths(SearchRequest("parse tree")))
    store.close()
