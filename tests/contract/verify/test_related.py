from sidecar.verify.change import FileVersions
from sidecar.verify.related import find_all_tests, find_related_tests
from tests.support.check_runner import host
from tests.support.workbench import Workbench


async def touched(bench: Workbench, *paths: str) -> list[str]:
    return await find_related_tests([FileVersions(path, b"x = 1", b"x = 2") for path in paths], host(bench), "search")


async def test_tests_that_import_what_was_changed_touch_it_and_those_named_after_it_come_first(
    bench: Workbench,
) -> None:
    bench.write("tests/test_api.py", "from shop.prices import total\n")
    bench.write("tests/test_prices.py", "import shop.prices\n")
    bench.write("tests/test_words.py", "def test_it():\n    assert 'prices' in text()\n")
    assert await touched(bench, "shop/prices.py") == ["tests/test_prices.py", "tests/test_api.py"]


async def test_where_nothing_imports_it_the_word_is_enough(bench: Workbench) -> None:
    bench.write("tests/test_words.py", "def test_it():\n    assert run('prices')\n")
    bench.write("tests/test_other.py", "def test_it():\n    assert overprices()\n")
    assert await touched(bench, "bin/prices.py") == ["tests/test_words.py"]


async def test_a_folder_stands_for_its_first_file_and_a_changed_test_for_itself(bench: Workbench) -> None:
    bench.write("tests/test_shop.py", "import shop\n")
    assert await touched(bench, "shop/__init__.py") == ["tests/test_shop.py"]
    assert await touched(bench, "tests/test_new.py") == ["tests/test_new.py"]
    assert await touched(bench, "notes.md") == []


async def test_scripts_import_in_their_own_way(bench: Workbench) -> None:
    bench.write("web/a.test.ts", "import { sum } from '../src/sum';\n")
    bench.write("web/b.test.js", "const { sum } = require('../src/sum.js');\n")
    bench.write("web/c.test.js", "test('sum', () => {});\n")
    assert await touched(bench, "src/sum.ts") == ["web/a.test.ts", "web/b.test.js"]


async def test_tests_beside_the_code_are_tests_too(bench: Workbench) -> None:
    rust = b"#[test]\nfn adds() { assert!(true_sum()); }\n"
    assert await find_related_tests([FileVersions("src/lib.rs", b"", rust)], host(bench), "search") == ["src/lib.rs"]


async def test_all_tests_are_found_by_their_names(bench: Workbench) -> None:
    for path in ("test_a.py", "pkg/b_test.go", "web/c.spec.ts", "src/latest.py", "node_modules/x/y.test.js"):
        bench.write(path, "")
    bench.write(".gitignore", "node_modules\n")
    (bench.workspace / ".git").mkdir()
    assert await find_all_tests(host(bench), "search") == {"test_a.py", "pkg/b_test.go", "web/c.spec.ts"}
