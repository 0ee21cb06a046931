"""F12: so many files at once that the watcher cannot follow; caches equal the disk afterwards all the same."""

from pathlib import Path

from tests.faults.scale import scaled
from tests.support.workbench import workbench


async def test_f12_caches_equal_the_disk_after_a_flood_of_new_files(tmp_path: Path) -> None:
    count = scaled(2_000, 50_000)
    async with workbench(tmp_path, caches=True) as bench:
        assert bench.caches is not None
        for folder in range(20):
            bench.write(f"d{folder}/first", "")
        await bench.call("read_directory_tree")
        await bench.call("list_dir", path="d7")
        bench.caches.watcher.started()

        for number in range(count):
            (bench.workspace / f"d{number % 20}/f{number}").touch()

        for folder in range(20):
            listed = await bench.call("list_dir", path=f"d{folder}")
            on_disk = {place.name for place in (bench.workspace / f"d{folder}").iterdir()}
            assert isinstance(listed.details, dict)
            assert listed.summary == f"{len(on_disk)} entries in d{folder}"
        tree = await bench.call("read_directory_tree")
        assert "d19/" in tree.content
        bench.write("d7/first", "changed\n")
        assert (await bench.call("read_file", path="d7/first")).content == "1 changed"
