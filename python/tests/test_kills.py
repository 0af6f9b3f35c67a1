"""SIGKILL of the service and of its worker processes under load, with clients that repeat requests: nothing is lost, and nothing is wrong."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import veriplay.verl

fusion = pytest.importorskip("sandbox_fusion")

PROGRAMS = 200
IN_FLIGHT = 32
#: After how many answers something is killed. The service tries a job three times, so that two kills of its worker are no fault.
KILLS = (60, 120)
TRUTH = json.dumps({"inputs": ["1 2\n"], "outputs": ["3\n"]})


async def run_all(url: str, attempts: int, after: Callable[[int], Any]) -> list[str]:
    """Runs programs through the unmodified client, and calls `after` with the number of answers. Returns what the programs printed."""
    slots, answered = asyncio.Semaphore(IN_FLIGHT), 0

    async def run(at: int) -> str:
        nonlocal answered
        # The service answers 504 after the client's limits, which a busy machine must not reach.
        request = fusion.RunCodeRequest(
            code=f"print(sum(range(100000)) + {at})", language="python", compile_timeout=240
        )
        async with slots:
            found = await fusion.run_code_async(request, endpoint=url, max_attempts=attempts)
        answered += 1
        await asyncio.to_thread(after, answered)
        return str(found.run_result.stdout)

    return await asyncio.gather(*(run(at) for at in range(PROGRAMS)))


EXPECTED = [f"{4999950000 + at}\n" for at in range(PROGRAMS)]


def test_a_service_that_is_killed_under_load_loses_nothing(mortal: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="sandbox_fusion.client")

    def kill_twice(answered: int) -> None:
        if answered in KILLS:
            mortal.kill_and_start()

    # As often as the client repeats a request by default.
    assert asyncio.run(run_all(mortal.url, 5, kill_twice)) == EXPECTED
    assert any("will retry" in record.getMessage() for record in caplog.records), "the kills met requests"


def test_workers_that_are_killed_under_load_lose_nothing(mortal: Any) -> None:
    killed = 0

    def kill_workers(answered: int) -> None:
        nonlocal killed
        if answered in KILLS:
            killed += mortal.kill_workers()

    # The client repeats nothing: what the service accepted, it answers.
    assert asyncio.run(run_all(mortal.url, 1, kill_workers)) == EXPECTED
    assert killed >= 2


def verl_scores(url: str, after: Callable[[int], Any]) -> list[float]:
    """The scores of the reward function for verl, as verl awaits them: many at once, of its own programs."""

    async def score(at: int) -> float:
        program = f"print(sum(map(int, input().split())) + {at % 2})  # {at}"
        found = await veriplay.verl.compute_score(
            data_source="code", solution_str=f"```python\n{program}\n```", ground_truth=TRUTH, url=url, patience=120.0
        )
        await asyncio.to_thread(after, at)
        assert found["veriplay_unjudged"] == 0.0
        return float(found["score"])

    async def waves() -> list[float]:
        scores: list[float] = []
        for first in range(0, PROGRAMS, 50):
            scores += await asyncio.gather(*(score(at) for at in range(first, first + 50)))
        return scores

    return asyncio.run(waves())


@pytest.mark.parametrize("victim", ["service", "workers"])
def test_the_function_for_verl_loses_nothing_by_kills(mortal: Any, victim: str) -> None:
    kill = mortal.kill_and_start if victim == "service" else mortal.kill_workers

    def kill_twice(at: int) -> None:
        if at in KILLS:
            kill()

    assert verl_scores(mortal.url, kill_twice) == [float(at % 2 == 0) for at in range(PROGRAMS)]


def verls_own_scoring() -> Any:
    """verl's module that scores by a sandbox, unmodified. The package around it wants torch, so its `__init__` is not run."""
    package = importlib.util.find_spec("verl")
    if package is None or package.submodule_search_locations is None:
        pytest.skip("verl is not installed")
    folder = Path(package.submodule_search_locations[0], "utils", "reward_score", "sandbox_fusion")
    spec = importlib.util.spec_from_file_location("verls_own_scoring", folder / "__init__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Slots(threading.Semaphore):
    """verl's limit of requests at a time, which calls a function with the number of answers."""

    def __init__(self, after: Callable[[int], Any]) -> None:
        super().__init__(IN_FLIGHT)
        self.after, self.answered, self.lock = after, 0, threading.Lock()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        with self.lock:
            self.answered += 1
            self.after(self.answered)


def scored_by_verl(url: str, after: Callable[[int], Any]) -> tuple[float, list[str]]:
    """The score of a right program with many tests, and what verl says of each of them."""
    truth = {"inputs": [f"{at} 2\n" for at in range(PROGRAMS)], "outputs": [f"{at + 2}\n" for at in range(PROGRAMS)]}
    program = "```python\nprint(sum(map(int, input().split())))\n```"
    score, tests = verls_own_scoring().compute_score(f"{url}/run_code", Slots(after), 1024, program, truth)
    return score, [test["status"] for test in tests]


def test_verls_own_scoring_loses_nothing_by_killed_workers(mortal: Any) -> None:
    killed = 0

    def kill_workers(answered: int) -> None:
        nonlocal killed
        if answered in KILLS:
            killed += mortal.kill_workers()

    assert scored_by_verl(mortal.url, kill_workers) == (1.0, ["success"] * PROGRAMS)
    assert killed >= 2


def test_verls_own_scoring_marks_what_it_lost_by_a_killed_service(mortal: Any) -> None:
    """verl repeats no request whose connection broke: it counts the test as failed and says `api_error`. No other test is wrong."""

    def kill_once(answered: int) -> None:
        if answered == 40:
            mortal.kill_and_start()

    score, tests = scored_by_verl(mortal.url, kill_once)
    lost = tests.count("api_error")
    assert lost + tests.count("success") == PROGRAMS and 0 < lost < PROGRAMS
    assert score == tests.count("success") / PROGRAMS
