"""Running calls together changes nothing: neither the files nor the answers."""

import re
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.workbench import workbench

_names = st.sampled_from(["a.txt", "b.txt", "d/c.txt", "D/c.txt", "d", "link.txt", "l/c.txt"])
_texts = st.sampled_from(["", "one\n", "two\n", "one\ntwo\n", "x"])
#: After a missing file, names that stand there at that moment; other calls may change them meanwhile.
_SUGGESTION = re.compile(r"(?<= does not exist\.) .*")


def _calls() -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    return st.one_of(
        st.builds(lambda path, text: ("write_file", {"path": path, "content": text}), _names, _texts),
        st.builds(lambda path, text: ("create_file", {"path": path, "content": text}), _names, _texts),
        st.builds(
            lambda path, old, new: ("edit_file", {"path": path, "oldText": old, "newText": new, "replaceAll": True}),
            _names,
            st.sampled_from(["one", "two", "x"]),
            st.sampled_from(["one", "two", "three"]),
        ),
        st.builds(lambda one, other: ("move_file", {"from": one, "to": other}), _names, _names),
        st.builds(lambda path: ("delete_file", {"path": path}), _names),
        st.builds(lambda path: ("read_file", {"path": path}), _names),
        st.builds(lambda path: ("list_dir", {"path": path}), st.sampled_from([".", "d"])),
    )


async def _files_after(
    calls: list[tuple[str, dict[str, Any]]], *, parallel: bool
) -> tuple[dict[str, bytes], list[str]]:
    with tempfile.TemporaryDirectory() as root:
        async with workbench(Path(root)) as bench:
            bench.write("a.txt", "one\n")
            bench.write("d/c.txt", "two\n")
            (bench.workspace / "link.txt").symlink_to("a.txt")
            (bench.workspace / "l").symlink_to("d")
            outcomes = await bench.batch(*calls, parallel=parallel)
            files = {
                str(path.relative_to(bench.workspace)): path.read_bytes()
                for path in bench.workspace.rglob("*")
                if path.is_file()
            }
            return files, [_SUGGESTION.sub("", each.content.replace(root, "")) for each in outcomes]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_calls(), min_size=2, max_size=10))
async def test_together_or_one_by_one_gives_the_same_files_and_the_same_answers(
    calls: list[tuple[str, dict[str, Any]]],
) -> None:
    assert await _files_after(calls, parallel=True) == await _files_after(calls, parallel=False)
