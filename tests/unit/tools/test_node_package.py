import pytest

from tools.errors import FileMissing
from tools.node_package import NodePackage, read_package


class Files:
    def __init__(self, **contents: str) -> None:
        self._contents = contents

    async def read(self, path: str, limit: int) -> bytes:
        folder = path.rpartition("/")[0] or "top"
        if folder not in self._contents:
            raise FileMissing(path)
        return self._contents[folder].encode()


async def test_a_package_declares_scripts_and_all_it_depends_on() -> None:
    declared = '{"scripts": {"test": "vitest"}, "dependencies": {"react": "19"}, "devDependencies": {"vitest": "3"}}'

    package = await read_package(Files(web=declared), "web")

    assert package == NodePackage({"test": "vitest"}, frozenset({"react", "vitest"}))


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"scripts": null}', '{"scripts": ["a"], "dependencies": "b"}'])
async def test_a_malformed_package_declares_nothing(text: str) -> None:
    assert await read_package(Files(top=text)) == NodePackage()


async def test_a_missing_package_declares_nothing() -> None:
    assert await read_package(Files()) == NodePackage()
