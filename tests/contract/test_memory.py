"""What every memory promises, whatever it keeps its index in."""

import os
import secrets
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path

import pytest

from sidecar.cache.watcher import Watcher
from sidecar.journal.postgres.journal import PostgresJournal
from sidecar.memory.local import LocalMemory
from sidecar.memory.port import Memory, SearchRequest
from sidecar.memory.r2r import R2RMemory
from sidecar.memory.r2r_client import R2RClient
from sidecar.memory.shared_indexes import SharedIndexes
from sidecar.memory.tools import FileTestsArguments, FileTestsTool, SimilarArguments, SimilarTool
from tests.support.r2r_server import KEY, serving
from tests.support.servers import Postgres
from tests.support.weights import need_weights
from tests.waiting import SECONDS, until_true
from tools.errors import ToolError
from tools.local.backend import LocalBackend
from tools.local.sandbox.probe import Sandboxes
from tools.spec import Call

FILES = {
    "shop/prices.py": (
        "import shop.tax\n\n\n"
        "def discounted_price(price: float, percent: float) -> float:\n"
        '    """Take a rebate off an amount."""\n'
        "    return shop.tax.with_tax(price * (1 - percent / 100))\n"
    ),
    "shop/tax.py": "def with_tax(amount: float) -> float:\n    return amount * 1.19\n",
    "shop/__init__.py": "",
    "tests/test_prices.py": (
        "from shop.prices import discounted_price\n\n\n"
        "def test_a_rebate_lowers_the_price() -> None:\n    assert discounted_price(100, 10) < 119\n"
    ),
    "web/cart.ts": "import { total } from './total'\n\nexport function checkout() {\n  return total([1, 2])\n}\n",
    "web/total.ts": "export function total(items: number[]): number {\n  return items.reduce((a, b) => a + b, 0)\n}\n",
    "README.md": "# Shop\n\nSells things.\n\n## Shipping\n\nParcels leave on Mondays.\n",
    ".env": "SECRET_TOKEN=parcelmonday\n",
    "ignored/parcel.py": "def parcel_on_mondays(): ...\n",
    ".gitignore": "ignored/\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def watcher() -> Watcher:
    return Watcher(delay=0)


@pytest.fixture(params=["local", "vectors", "r2r", "shared"])
async def memory(
    request: pytest.FixtureRequest, tmp_path: Path, workspace: Path, watcher: Watcher
) -> AsyncIterator[Memory]:
    if request.param == "shared":
        async with shared_memory(request.getfixturevalue("postgres"), workspace, tmp_path, watcher) as memory:
            yield memory
        return
    with serving() if request.param == "r2r" else nullcontext() as server:
        data = tmp_path / "data"
        if server is None:
            if request.param == "vectors":
                need_weights()
            memory = LocalMemory(data, "off", watcher.subscribe, vectors=request.param == "vectors")
        else:
            memory = R2RMemory(R2RClient(server.url, KEY), data, "off", watcher.subscribe)
        yield memory
        await memory.close()
        watcher.close()


@asynccontextmanager
async def shared_memory(
    postgres: Postgres, workspace: Path, folder: Path, watcher: Watcher
) -> AsyncIterator[LocalMemory]:
    """Begins with the index that another machine built of an older clone of the same remote."""
    journal = await PostgresJournal.open(postgres.url, schema=f"test_{secrets.token_hex(6)}")
    indexes = SharedIndexes(journal, lambda directory: "example.com:shop")
    older = folder / "older"
    shutil.copytree(workspace, older)
    (older / "shop/old.py").write_text("def parcel_of_yesterday(): ...\n")
    (older / "shop/tax.py").write_text("def levy(amount: float) -> float:\n    return amount\n")
    other = LocalMemory(folder / "other", "off", shared=indexes)
    await find(other, older, "price")
    await other.shared(str(older))
    await other.close()
    memory = LocalMemory(folder / "data", "off", watcher.subscribe, shared=indexes)
    try:
        yield memory
        await memory.shared(str(workspace))
    finally:
        await memory.close()
        watcher.close()
        await journal.close()


async def find(memory: Memory, workspace: Path, query: str, limit: int = 10) -> list[tuple[str, str]]:
    found = await memory.search(str(workspace), SearchRequest(query, limit), SECONDS)
    assert found.state == "ready"
    return [(hit.path, hit.symbol) for hit in found.hits]


async def test_before_the_first_question_nothing_is_stored(memory: Memory, workspace: Path, tmp_path: Path) -> None:
    assert (await memory.state(str(workspace))).state == "empty"
    assert not list((tmp_path / "data").glob("memory/*"))


async def test_a_function_is_found_by_what_it_does(memory: Memory, workspace: Path) -> None:
    assert (await find(memory, workspace, "take a rebate off the price"))[0] == ("shop/prices.py", "discounted_price")


async def test_a_hit_says_where_and_why_and_quotes_the_file(memory: Memory, workspace: Path) -> None:
    (hit,) = (await memory.search(str(workspace), SearchRequest("with_tax", 1), SECONDS)).hits
    assert (hit.path, hit.line, hit.end_line, hit.kind) == ("shop/tax.py", 1, 2, "function")
    assert hit.snippet == FILES["shop/tax.py"].rstrip("\n")
    assert "contains with_tax" in hit.why


async def test_a_hit_names_only_words_that_it_contains(memory: Memory, workspace: Path) -> None:
    hits = (await memory.search(str(workspace), SearchRequest("tax_rebate"), SECONDS)).hits
    contained = {hit.path: hit.why.partition("contains ")[2].partition(";")[0].split(", ") for hit in hits}
    assert contained["shop/tax.py"] == ["tax"]


async def test_a_section_of_a_document_is_found(memory: Memory, workspace: Path) -> None:
    assert ("README.md", "Shipping") in await find(memory, workspace, "when do parcels leave")


async def test_secret_and_ignored_files_are_not_in_it(memory: Memory, workspace: Path) -> None:
    paths = {path for path, _ in await find(memory, workspace, "SECRET_TOKEN parcel mondays parcelmonday")}
    assert paths == {"README.md"}


async def test_filters_narrow_a_search(memory: Memory, workspace: Path) -> None:
    inside = await memory.search(str(workspace), SearchRequest("price total", path="web"), SECONDS)
    assert {hit.path for hit in inside.hits} == {"web/cart.ts", "web/total.ts"}
    of_kind = await memory.search(str(workspace), SearchRequest("parcels", kind="section"), SECONDS)
    assert {hit.kind for hit in of_kind.hits} == {"section"}
    of_language = await memory.search(str(workspace), SearchRequest("price total", language="python"), SECONDS)
    assert {hit.path.rpartition(".")[2] for hit in of_language.hits} == {"py"}


async def test_the_files_that_import_a_file_come_nearest_first(memory: Memory, workspace: Path) -> None:
    found = await memory.impact(str(workspace), "shop/tax.py", depth=2, wait=SECONDS)
    assert found.state == "ready"
    hits = found.hits
    assert [(each.path, each.distance) for each in hits] == [("shop/prices.py", 1), ("tests/test_prices.py", 2)]
    assert hits[0].line == 1 and "shop/tax.py" in hits[0].via
    assert [each.through for each in hits] == ["shop/tax.py", "shop/prices.py"]
    assert list(await memory.imports(str(workspace), "shop/prices.py")) == ["shop/tax.py"]


async def test_the_users_of_a_name_are_found_with_their_lines(memory: Memory, workspace: Path) -> None:
    (found,) = (await memory.impact(str(workspace), symbol="total", wait=SECONDS)).hits
    assert (found.path, found.symbol, found.distance, found.line) == ("web/cart.ts", "checkout", 1, 4)


async def test_the_tests_of_a_file_are_those_that_reach_it(memory: Memory, workspace: Path) -> None:
    await find(memory, workspace, "price")
    found = await memory.tests_of(str(workspace), "shop/tax.py")
    assert [each.path for each in found.hits] == ["tests/test_prices.py"]


async def test_an_answer_from_an_index_that_is_being_built_says_so(memory: Memory, workspace: Path) -> None:
    for found in (
        await memory.impact(str(workspace), "shop/tax.py"),
        await memory.tests_of(str(workspace), "shop/tax.py"),
        await memory.search(str(workspace), SearchRequest("price")),
    ):
        assert found.state == "building"


async def test_similar_definitions_share_their_words(memory: Memory, workspace: Path) -> None:
    (workspace / "web/sum.ts").write_text(
        "export function sum(items: number[]): number {\n  return items.reduce((a, b) => a + b, 0)\n}\n"
    )
    await find(memory, workspace, "total")
    found = await memory.similar(str(workspace), "total")
    assert found.hits[0].symbol == "sum"


async def test_agents_ask_for_tests_and_for_similar_code_by_tools(
    memory: Memory, workspace: Path, tmp_path: Path
) -> None:
    backend = LocalBackend((), tmp_path / "backend", sandboxes=Sandboxes("off"))
    host, call = backend.host(str(workspace)), Call("call", str(workspace), 2 * SECONDS)
    tests = FileTestsTool(memory)
    try:
        found = await tests.run(FileTestsArguments(path="shop/tax.py"), host, call, lambda stream, text: None)
        assert "tests/test_prices.py" in found.content and "imports shop/prices.py" in found.content
        untested = await tests.run(FileTestsArguments(path="web/cart.ts"), host, call, lambda stream, text: None)
        assert untested.details == {"state": "ready", "hits": []}
        for path in ("shop", "../outside.py"):
            with pytest.raises(ToolError):
                await tests.run(FileTestsArguments(path=path), host, call, lambda stream, text: None)
        alike = await SimilarTool(memory).run(
            SimilarArguments(symbol="with_tax"), host, call, lambda stream, text: None
        )
        assert "shop/prices.py" in alike.content and "def with_tax" not in alike.content
    finally:
        await backend.close()


async def test_the_map_names_the_most_imported_files_first_and_keeps_its_budget(
    memory: Memory, workspace: Path
) -> None:
    assert await memory.repository_map(str(workspace), 1_000) == ""
    await find(memory, workspace, "price")
    whole = await memory.repository_map(str(workspace), 1_000)
    assert set(whole.split("\n")[:2]) == {"shop/tax.py: with_tax", "web/total.ts: total"}
    assert "tests/" not in whole
    about = await memory.repository_map(str(workspace), 1_000, "check out the cart", ["web/cart.ts"])
    assert about.split("\n")[0].startswith("web/")
    assert len((await memory.repository_map(str(workspace), 40)).encode()) <= 40


async def test_an_edit_is_found_at_the_next_search(memory: Memory, workspace: Path, watcher: Watcher) -> None:
    await find(memory, workspace, "price")
    assert watcher.started(SECONDS)
    (workspace / "shop/tax.py").write_text("def levy(amount: float) -> float:\n    return amount\n")
    (workspace / "shop/refund.py").write_text("def give_money_back() -> None: ...\n")

    async def seen() -> bool:
        hits = await find(memory, workspace, "levy give money back")
        return {("shop/tax.py", "levy"), ("shop/refund.py", "give_money_back")} <= set(hits)

    await until_true(seen)
    assert ("shop/tax.py", "with_tax") not in await find(memory, workspace, "with_tax")


async def test_a_removed_file_is_no_hit(memory: Memory, workspace: Path) -> None:
    assert await find(memory, workspace, "with_tax", 1)
    (workspace / "shop/tax.py").unlink()
    assert "shop/tax.py" not in {path for path, _ in await find(memory, workspace, "with_tax")}


async def test_past_commits_lead_to_the_files_they_changed(memory: Memory, workspace: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
            cwd=workspace,
            check=True,
            capture_output=True,
        )

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "Start")
    (workspace / "shop/tax.py").write_text(FILES["shop/tax.py"].replace("1.19", "1.2"))
    git("commit", "-qam", "Follow the new Danish legislation")
    hits = (await memory.search(str(workspace), SearchRequest("danish legislation"), SECONDS)).hits
    assert hits[0].path == "shop/tax.py"
    assert "Danish legislation" in hits[0].why


async def test_a_search_may_leave_out_what_did_not_change_lately(memory: Memory, workspace: Path) -> None:
    os.utime(workspace / "shop/tax.py", (1_000_000_000, 1_000_000_000))
    every = await memory.search(str(workspace), SearchRequest("amount price"), SECONDS)
    lately = await memory.search(str(workspace), SearchRequest("amount price", days=30), SECONDS)
    assert {"shop/tax.py", "shop/prices.py"} <= {hit.path for hit in every.hits}
    assert {hit.path for hit in lately.hits} == {hit.path for hit in every.hits} - {"shop/tax.py"}


async def test_an_index_can_be_forgotten_and_built_again(memory: Memory, workspace: Path, tmp_path: Path) -> None:
    await find(memory, workspace, "price")
    state = await memory.state(str(workspace))
    assert state.files == 7 and state.chunks >= 7 and state.bytes > 0 and state.done == state.total
    await memory.forget(str(workspace))
    assert (await memory.state(str(workspace))).state == "empty"
    assert not list((tmp_path / "data/memory").iterdir())
    await memory.rebuild(str(workspace))
    assert await find(memory, workspace, "price")


async def test_a_damaged_index_is_built_anew(memory: Memory, workspace: Path, tmp_path: Path) -> None:
    await find(memory, workspace, "price")
    await memory.close()
    (store,) = (tmp_path / "data/memory").glob("*.db")
    store.write_bytes(b"this is no database" * 1_000)
    assert await find(memory, workspace, "price")
