"""S24 must not be in the way: what people really build and test runs in every tier, within all limits."""

import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.security.sandboxed import SandboxedWorkbench

WORKERS = """
import multiprocessing, concurrent.futures, tempfile, threading
def work(n): return n * n
if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(4) as pool:
        print(sum(pool.map(work, range(100))))
    threads = [threading.Thread(target=work, args=(n,)) for n in range(200)]
    [each.start() for each in threads]; [each.join() for each in threads]
    tempfile.NamedTemporaryFile().write(b"x" * 1_000_000)
"""


@pytest.fixture(params=["bubblewrap", "landlock"])
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SandboxedWorkbench]:
    bench = SandboxedWorkbench(tmp_path, request.param)
    yield bench
    await bench.executor.close()


async def ran(bench: SandboxedWorkbench, command: str) -> str:
    outcome = await bench.call("run_command", command=command, timeoutMs=60_000)
    assert outcome.status == "success", outcome.content
    return outcome.content


async def test_s24_pytest_runs_with_several_workers(bench: SandboxedWorkbench) -> None:
    bench.write(
        "test_it.py", "import pytest\n@pytest.mark.parametrize('n', range(8))\ndef test_it(n, tmp_path): pass\n"
    )
    words = f"{sys.executable} -m pytest -q -n 2 -p no:cacheprovider"
    assert "8 passed" in await ran(bench, words)


async def test_s24_processes_threads_and_temporary_files_work(bench: SandboxedWorkbench) -> None:
    bench.write("work.py", WORKERS)
    assert await ran(bench, "python3 work.py") == "328350"


async def test_s24_shell_scripts_make_and_git_work(bench: SandboxedWorkbench) -> None:
    bench.write("Makefile", "all:\n\t@mktemp -d > /dev/null && echo built > out\n")
    await ran(bench, "make -s -j4")
    assert bench.read("out") == b"built\n"
    who = "-c user.name=a -c user.email=a@b"
    await ran(
        bench, f"git add . && git {who} commit -qm one && git checkout -qb x && git {who} commit -q --amend -m two"
    )
    assert "two" in await ran(bench, "git log --oneline | cat")


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
async def test_s24_node_and_npm_work(bench: SandboxedWorkbench) -> None:
    bench.write("package.json", '{"name": "x", "scripts": {"test": "node run.js", "build": "node run.js > built.txt"}}')
    worker = "new (require('worker_threads').Worker)('1', {eval: true});"
    memory = "new WebAssembly.Memory({initial: 1, maximum: 65536}); console.log(6 * 7)"
    bench.write("run.js", f"{worker}\n{memory}\n")
    assert "42" in await ran(bench, "npm test --silent")
    await ran(bench, "npm run build --silent")
    assert bench.read("built.txt") == b"42\n"


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no compiler")
async def test_s24_a_compiler_works(bench: SandboxedWorkbench) -> None:
    bench.write("a.c", '#include <stdio.h>\nint main(void) { puts("compiled"); return 0; }\n')
    assert await ran(bench, "cc -pipe -O2 a.c -o a && ./a") == "compiled"
