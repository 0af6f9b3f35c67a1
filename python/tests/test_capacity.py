"""The simulation behind docs/measurements.md, where the answer is known without it."""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def capacity() -> ModuleType:
    spec = importlib.util.spec_from_file_location("capacity", SCRIPTS / "capacity.py")
    assert spec is not None and spec.loader is not None
    sys.modules["capacity"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_costs_the_cores_decide(capacity: ModuleType) -> None:
    """1,200 attempts of 1 s on 3 nodes of 4 cores keep all of them busy for 100 s."""
    found = capacity.burst([1.0] * 1200, 3, capacity.Costs(), cores=4, batch=1)
    assert found["verdicts"] == 1200
    assert found["last"] == pytest.approx(100, rel=0.02) and found["p50"] == pytest.approx(50, rel=0.05)
    assert found["cores busy"] == pytest.approx(1, rel=0.02) and found["trainer busy"] == 0
    whole = capacity.burst([1.0] * 1200, 3, capacity.Costs(), cores=4, batch=400)
    assert whole["last"] == pytest.approx(100, rel=0.02) and whole["p50"] > 60, "a batch answers as a whole"


def test_calls_that_cost_more_than_the_programs_decide(capacity: ModuleType) -> None:
    """What the pool's thread spends is a lower bound, whatever the nodes have."""
    costs = capacity.Costs(call=0.01, attempt=0.001)
    found = capacity.burst([0.0001] * 2000, 50, costs)
    assert found["last"] >= found["calls"] * 0.01 + 2000 * 0.001
    assert found["trainer busy"] > 0.95 and found["cores busy"] < 0.05


@pytest.mark.parametrize(("detected", "last"), [(0.0, 100.0), (200.0, 220.0)])
def test_what_a_lost_node_had_is_judged_by_others_once(capacity: ModuleType, detected: float, last: float) -> None:
    """Nothing of it was answered yet, so the other node judges all 400 by itself; or what is left of them when the loss is seen."""
    found = capacity.burst([1.0] * 400, 2, capacity.Costs(), cores=4, lost=5.0, detected=detected, batch=16)
    assert found["verdicts"] == 400 and found["last"] == pytest.approx(last, rel=0.02)


def test_a_slow_node_holds_up_only_what_it_has(capacity: ModuleType) -> None:
    last = {
        window: capacity.burst([1.0] * 800, 4, capacity.Costs(), cores=4, slow=10.0, in_flight=window, batch=8)["last"]
        for window in (1, 4)
    }
    assert 50 < last[1] < last[4], "a narrow window leaves less with the slow node"


def test_clients_are_limited_by_their_windows_and_their_processors(capacity: ModuleType) -> None:
    by_window = capacity.by_url([1.0] * 640, 2, 0.0, in_flight=8, cores=1000)
    assert by_window["last"] == pytest.approx(640 / 16, rel=0.01)
    by_processor = capacity.by_url([0.001] * 1000, 2, 0.01, in_flight=8, cores=1000)
    assert by_processor["last"] == pytest.approx(1000 / 2 * 0.01, rel=0.01)


def test_cores_of_a_gpu(capacity: ModuleType) -> None:
    """1,000 tokens/s are 10 responses of 100 tokens: half a second each keeps 5 cores busy, and 10 half of the time."""
    assert capacity.cores_of_gpu(1000, 100, 0.5) == pytest.approx(10)


def test_attempts_are_drawn_from_what_was_measured(capacity: ModuleType) -> None:
    measured = json.loads((SCRIPTS / "capacity.json").read_text())
    for name in [*capacity.MIX, "endless loop"]:
        seconds = measured["service"][name]["seconds"]
        assert seconds == sorted(seconds) and seconds[0] > 0, name
    assert sum(capacity.MIX.values()) == 1
    seconds = capacity.draw(measured["service"], 20_000, 0.0, random.Random(0))
    assert len(seconds) == 20_000 and set(map(type, seconds)) == {float}
    wanted = sum(share * measured["service"][name]["mean_seconds"] for name, share in capacity.MIX.items())
    assert sum(seconds) / len(seconds) == pytest.approx(wanted, rel=0.1)
    loops = capacity.draw(measured["service"], 1_000, 1.0, random.Random(0))
    assert min(loops) >= measured["service"]["endless loop"]["seconds"][0]
