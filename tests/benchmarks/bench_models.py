"""What Rainy Brain itself costs around a model: the real process, the real SDK, and a model that answers at once."""

import json
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.benchmarks.result import Result
from tests.contract.servers.http import Answer, Seen, Server, a_server
from tests.contract.servers.speech import Call, Speaker, Speech
from tests.contract.servers.stage import SPEAKERS, a_stage
from tests.e2e.support import RunningSidecar, running_sidecar

TURNS = 200
TASKS = 30
ROUNDS = 3
FILES = 2_000
READS = 20


async def run() -> list[Result]:
    results = []
    for speaker in SPEAKERS:
        with tempfile.TemporaryDirectory() as directory, a_server() as server:
            environ = {speaker.key: "k", speaker.base_url: server.url + speaker.prefix(), "PYTHONDONTWRITEBYTECODE": ""}
            alone = await _alone(speaker, Path(directory))
            with running_sidecar(Path(directory), **environ) as sidecar:
                results += _measured(speaker, server, sidecar, alone)
    return results


async def _alone(speaker: Speaker, directory: Path) -> float:
    """Milliseconds of a request and its reply, with nothing around them."""
    async with a_stage(speaker, directory) as stage:
        stage.says(Speech(text="Turn.", calls=reading(1, iter(range(1)))))
        model, taken = stage.model(), []
        for _ in range(60):
            began = time.perf_counter()
            await stage.ask(model=model)
            taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


def _measured(speaker: Speaker, server: Server, sidecar: RunningSidecar, alone: float) -> list[Result]:
    (sidecar.workspace / "notes").mkdir()
    for number in range(FILES):
        (sidecar.workspace / f"notes/{number}.txt").write_text(f"line {number}\n" * 20)
    answers = Clockwork(speaker, server)
    answers.measure(sidecar, 1, turns=5)
    begun = _quietest(lambda: answers.first_requests(sidecar))
    turn = _quietest(lambda: answers.measure(sidecar, 1, turns=40))
    reads = _quietest(lambda: answers.measure(sidecar, 10, turns=READS))
    long = answers.measure(sidecar, 1, turns=TURNS)
    # The lower quartile: what others do on the machine at one end must not look like growth.
    start, end = (statistics.quantiles(edge, n=4)[0] for edge in (long[5:45], long[-40:]))
    resident = _resident(sidecar)
    name = speaker.provider
    return [
        Result(
            f"{name}: own cost per turn, one read",
            turn,
            "ms",
            ratio=turn / alone,
            baseline="the SDK's call alone",
            most=3,
        ),
        Result(f"{name}: ten reads in one turn", reads, "ms", ratio=reads / turn, baseline="one read", most=5),
        Result(
            f"{name}: warm execute to first request",
            begun,
            "ms",
            ratio=begun / alone,
            baseline="the SDK's call alone",
            most=5,
        ),
        Result(f"{name}: last turns of {TURNS}", end, "ms", ratio=end / start, baseline="first turns", most_ratio=1.5),
        Result(f"{name}: resident after it", resident, "MB", most=120),
    ]


def _quietest(measured: Callable[[], Sequence[float]]) -> float:
    """The median, of the one of a few rounds in which the machine had the least else to do."""
    return min(statistics.median(measured()) for _ in range(ROUNDS))


def reading(reads: int, files: Iterator[int]) -> tuple[Call, ...]:
    """Calls that read the next files, each of which nobody has read before."""
    return tuple(Call("read_file", json.dumps({"path": f"notes/{next(files)}.txt"})) for _ in range(reads))


class Clockwork:
    """A model that answers as soon as it is asked, and notes when; the clock is that of its own thread."""

    def __init__(self, speaker: Speaker, server: Server) -> None:
        self._speaker = speaker
        self._server = server
        self._models = dict.fromkeys(("fast", "smart", "instant"), f"{speaker.provider}/{speaker.model}")
        self._files = iter(range(FILES))

    def measure(self, sidecar: RunningSidecar, reads: int, turns: int) -> list[float]:
        """Milliseconds from the last byte of a reply to the last byte of the next request."""
        # Each says something else, as a model that makes progress would.
        asking = [
            Answer([self._speaker.stream(Speech(text=f"Turn {number}.", calls=reading(reads, self._files)))])
            for number in range(turns)
        ]
        ends: list[float] = []
        begins: list[float] = []
        self._server.on_last_byte = ends.append
        all_asked = threading.Event()

        def asked(seen: Seen) -> None:
            begins.append(seen.at)
            if len(begins) > turns:
                all_asked.set()

        self._server.on_request = asked
        self._server.plays(*asking, Answer([self._speaker.stream(Speech(text="Done."))]))
        task = sidecar.execute("look", models=self._models, intent="chat", maxIterations=turns + 5)
        assert all_asked.wait(120)
        ended = sidecar.wait_for_end(task, seconds=10)
        assert ended["status"] == "completed", ended
        return [(begin - end) * 1000 for end, begin in zip(ends, begins[1:], strict=False)]

    def first_requests(self, sidecar: RunningSidecar) -> list[float]:
        taken = []
        for _ in range(TASKS):
            asked = threading.Event()
            moments: list[float] = []
            self._server.on_request = lambda seen, asked=asked, moments=moments: _note(seen, moments, asked)  # type: ignore[misc]
            self._server.plays(Answer([self._speaker.stream(Speech(text="Done."))]))
            began = time.monotonic()
            task = sidecar.execute("hello", models=self._models, intent="chat")
            assert asked.wait(10)
            taken.append((moments[0] - began) * 1000)
            sidecar.wait_for_end(task)
        return taken


def _note(seen: Seen, moments: list[float], asked: threading.Event) -> None:
    moments.append(seen.at)
    asked.set()


def _resident(sidecar: RunningSidecar) -> float:
    status = Path(f"/proc/{sidecar.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024
