"""The pool on a real cluster of raylets, with the real program behind a gate: kills hit batches that are certainly under way."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import veriplay
from veriplay import Attempt, LocalServerError, Task, Unmeasured, Verdict, VeriplayError, openrlhf, trl, verl
from veriplay.local import LocalServer

ray = pytest.importorskip(
    "ray", reason="Ray is not installed: `VERIPLAY_RAY=1 python/run_tests.sh` installs and tests it"
)

from ray.cluster_utils import Cluster  # noqa: E402

from veriplay.ray import NAMESPACE, Pool, shared_pool  # noqa: E402

HERE = Path(__file__).resolve().parent
GATED = HERE / "gated.py"
SUM = Task.stdio([("1 2\n", "3\n"), ("40 2\n", "42\n")])
RIGHT, WRONG = "print(sum(map(int, input().split())))", "print(3)"
#: Each is another program, so none has the verdict of another one from a cache.
ATTEMPTS = [Attempt.program(SUM, f"# {at}\n{RIGHT if at % 3 else WRONG}") for at in range(48)]
#: Seconds after which a test has failed.
LIMIT = 300.0


@dataclass
class Arrival:
    """A batch that waits at the gate."""

    node: str
    connection: socket.socket

    def go(self) -> None:
        self.connection.close()


class Gate:
    """Where requests for verdicts wait, on all nodes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.nodes: list[str] = []
        # Also those that the test does not name: a connection that is collected would let its batch through.
        self._held: list[Arrival] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(128)
        self._listener.settimeout(LIMIT)
        self._opener: threading.Thread | None = None

    def arrival(self) -> Arrival:
        """The next batch that arrives at a node's server."""
        connection, _ = self._listener.accept()
        connection.settimeout(LIMIT)
        node = connection.makefile().readline().strip()
        self.nodes.append(node)
        self._held.append(Arrival(node, connection))
        return self._held[-1]

    def open(self) -> None:
        """Lets all through that arrive from now on."""
        self._opener = threading.Thread(target=self._pass_all)
        self._opener.start()

    def _pass_all(self) -> None:
        with suppress(OSError):
            while (arrival := self.arrival()).node:
                arrival.go()

    def close(self) -> None:
        if self._opener is not None:
            with socket.socket(socket.AF_UNIX) as last:
                last.connect(str(self.path))
                last.sendall(b"\n")
            self._opener.join(LIMIT)
        for arrival in self._held:
            arrival.go()
        self._listener.close()
        self.path.unlink()


@dataclass
class Machines:
    """A cluster whose nodes have a server each, as if they were machines."""

    cluster: Any
    folder: Path
    names: list[str] = field(default_factory=list)
    kept: list[LocalServer] = field(default_factory=list)
    late: int = 0

    def add(self, name: str, *resources: str, **environment: str) -> Any:
        """A node with these custom resources, and with a server of its own."""
        run = self.folder / name
        run.mkdir(mode=0o700, exist_ok=True)
        self.names.append(name)
        settings = {"VERIPLAY_RUNTIME_DIR": str(run), "VERIPLAY_BIN": str(GATED)}
        # A URL is nothing to the actors: it may be that of the pool.
        settings["VERIPLAY_URL"] = "http://127.0.0.1:9"
        options = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
        options |= {"resources": dict.fromkeys(resources, 1), "env_vars": {**settings, **environment}}
        while True:
            try:
                return self.cluster.add_node(**options)
            except Exception as error:
                # Ray gives a raylet a fixed time to start its agents, which a busy machine may not make.
                self.late += 1
                if "timed out during startup" not in str(error) or self.late > 5:
                    raise

    def start_server(self, name: str) -> None:
        """Starts the server of a node before the node, and keeps it beyond the jobs: starts take long where the program is a test build."""
        (self.folder / name).mkdir(mode=0o700)
        self.kept.append(self.server(name))
        self.kept[-1].address()

    def server(self, name: str) -> LocalServer:
        return LocalServer(folder=self.folder / name, binary=str(GATED))

    def stop_servers(self) -> None:
        for server in self.kept:
            server.release()
        for name in self.names:
            self.server(name)._stop()


def id_of(node: Any) -> str:
    (row,) = [row for row in ray.nodes() if row["RayletSocketName"] == node.raylet_socket_name]
    return str(row["NodeID"])


def kill_actor(node: Any) -> None:
    name = f"{ray.get_runtime_context().get_job_id()}-{id_of(node)}"
    ray.kill(ray.get_actor(name, namespace=NAMESPACE))


@pytest.fixture(scope="module")
def machines(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """A cluster with a head that no pool uses here: it has none of the resources that they ask for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE.parent), str(HERE)]))
        patch.setenv("GATED_BIN", binary)
        patch.delenv("VERIPLAY_URL", raising=False)
        head = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        machines = Machines(cluster, tmp_path_factory.mktemp("ray"))
        try:
            yield machines
        finally:
            cluster.shutdown()
            machines.stop_servers()


@pytest.fixture(scope="module")
def pair(machines: Machines) -> dict[str, Any]:
    """Two raylets that stay."""
    for name in ("p1", "p2"):
        machines.start_server(name)
    return {"p1": machines.add("p1", "pair", "mixed"), "p2": machines.add("p2", "pair")}


@pytest.fixture
def driver(machines: Machines) -> Iterator[None]:
    """A job of its own, whose actors end with it."""
    ray.init(address=machines.cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    yield
    ray.shutdown()


@pytest.fixture
def gate(machines: Machines) -> Iterator[Gate]:
    gate = Gate(machines.folder / "gate")
    yield gate
    gate.close()


@pytest.fixture(scope="module")
def expected(binary: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the command line writes about the attempts."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "tasks.jsonl").write_text(json.dumps(SUM.row) + "\n")
    rows = ({"task_id": SUM.name, "program": attempt.text} for attempt in ATTEMPTS)
    (folder / "attempts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [binary, "verify", "--tasks", "tasks.jsonl", "--attempts", "attempts.jsonl", "--no-cache"]
    written = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    return [written_row(json.loads(line)) for line in written.splitlines()]


def written_row(row: dict[str, Any]) -> str:
    return json.dumps({name: row[name] for name in ("status", "passed", "total", "fuel", "evidence", "judged")})


def written(verdict: Verdict) -> str:
    return written_row({**vars(verdict), "evidence": dict(verdict.evidence)})


def arrivals(gate: Gate, *nodes: str) -> dict[str, Arrival]:
    """Batches at these nodes, all held at the same time."""
    held = [gate.arrival() for _ in nodes]
    assert {arrival.node for arrival in held} == set(nodes)
    return {arrival.node: arrival for arrival in held}


@dataclass
class Judging:
    """A pool that judges `ATTEMPTS` in another thread."""

    pool: Pool
    threads: ThreadPoolExecutor

    def __post_init__(self) -> None:
        self.future = self.threads.submit(self.pool.verify, SUM, ATTEMPTS)

    def result(self) -> list[str]:
        return [written(verdict) for verdict in self.future.result(LIMIT)]


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


@pytest.fixture
def judging(driver: None, pair: dict[str, Any], gate: Gate, threads: ThreadPoolExecutor) -> Iterator[Judging]:
    """On `p1` and `p2`, one batch on each at a time."""
    with Pool(resource="pair", in_flight=1, batch=8, patience=LIMIT) as pool:
        yield Judging(pool, threads)


def test_verdicts_of_two_nodes_are_those_of_the_command_line(judging: Judging, gate: Gate, expected: list[str]) -> None:
    for arrival in arrivals(gate, "p1", "p2").values():
        arrival.go()
    gate.open()
    assert judging.result() == expected
    assert json.loads(expected[0])["status"] == "wrong_answer" and json.loads(expected[1])["status"] == "accepted"


def test_a_killed_actor_loses_nothing(
    judging: Judging, gate: Gate, pair: dict[str, Any], expected: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    arrivals(gate, "p1", "p2")["p2"].go()
    kill_actor(pair["p1"])
    gate.open()
    assert judging.result() == expected
    assert [record for record in caplog.records if "was lost with 8 attempts" in record.getMessage()]


def test_every_actor_may_be_killed_at_once(
    judging: Judging, gate: Gate, pair: dict[str, Any], expected: list[str]
) -> None:
    arrivals(gate, "p1", "p2")
    for node in pair.values():
        kill_actor(node)
    again = [gate.arrival(), gate.arrival()]
    assert {arrival.node for arrival in again} == {"p1", "p2"}
    for arrival in again:
        arrival.go()
    gate.open()
    assert judging.result() == expected


def test_nodes_join_and_leave_while_they_judge(
    driver: None, machines: Machines, gate: Gate, threads: ThreadPoolExecutor, expected: list[str]
) -> None:
    machines.start_server("m2")
    with Pool(resource="moving", in_flight=1, batch=8, patience=LIMIT) as pool:
        judging = Judging(pool, threads)
        first = machines.add("m1", "moving")
        assert gate.arrival().node == "m1"
        machines.add("m2", "moving")
        while (joined := gate.arrival()).node != "m2":
            # On a busy machine the node takes longer than the pool's actor waits for an answer, which asks again.
            assert joined.node == "m1"
        before = gate.nodes.count("m1")
        machines.cluster.remove_node(first, allow_graceful=False)
        joined.go()
        gate.open()
        assert judging.result() == expected
    # What the first one had was judged by the second.
    assert gate.nodes.count("m1") == before and gate.nodes.count("m2") >= len(ATTEMPTS) / 8


def test_without_nodes_nothing_is_measured(driver: None, pair: dict[str, Any]) -> None:
    with Pool(resource="nowhere", patience=0.0) as pool:
        with pytest.raises(Unmeasured, match="no node of the Ray cluster was ready for 0 s; hint: are there nodes"):
            pool.verify(SUM, [RIGHT])
        (found,) = pool.measure(SUM, [RIGHT])
        assert found.fault is not None and found.fault.kind == "no_nodes" and found.reward is None
        found = asyncio.run(pool.measure_one(SUM, RIGHT))
        assert found.fault is not None and found.reward is None


def test_a_node_that_cannot_start_its_server_is_named_and_others_do_its_work(
    driver: None, machines: Machines, pair: dict[str, Any], gate: Gate, threads: ThreadPoolExecutor, expected: list[str]
) -> None:
    gate.open()
    machines.add("b1", "broken", "mixed", VERIPLAY_BIN="/no/such/program")
    text = r"(?s)no node .* can start its server:\n  node .*`VERIPLAY_BIN` is `/no/such/program`"
    with Pool(resource="broken", patience=LIMIT) as pool, pytest.raises(LocalServerError, match=text):
        pool.verify(SUM, [RIGHT])
    with Pool(resource="mixed", batch=8, patience=LIMIT) as pool:
        assert Judging(pool, threads).result() == expected
    assert set(gate.nodes) == {"p1"}


def test_calls_of_coroutines_are_judged_and_a_row_that_cannot_be_read_fails_alone(
    driver: None, pair: dict[str, Any], gate: Gate
) -> None:
    gate.open()

    async def judge(pool: Pool) -> list[Any]:
        calls = [pool.judge(SUM, {"program": f"# {at}\n{RIGHT if at % 2 else WRONG}"}) for at in range(64)]
        calls.append(pool.judge(Task("apps", {"input_output": "{}"}), "print(1)"))
        return await asyncio.gather(*calls, return_exceptions=True)

    with Pool(resource="pair", patience=LIMIT) as pool:
        *found, invalid = asyncio.run(judge(pool))
    assert [verdict.reward for verdict in found] == [float(at % 2) for at in range(64)]
    assert invalid.fault.kind == "unreadable_task" and invalid.reward is None


def actor_ids(pool: Pool) -> set[str]:
    return {node.worker.actor._actor_id.hex() for node in pool._dispatcher.nodes.values() if node.worker is not None}


def test_processes_of_a_job_share_the_actors(driver: None, pair: dict[str, Any], gate: Gate) -> None:
    gate.open()

    @ray.remote(num_cpus=0)
    def elsewhere() -> tuple[list[float | None], set[str]]:
        with Pool(resource="pair", patience=LIMIT) as pool:
            rewards = [verdict.reward for verdict in pool.verify(SUM, ATTEMPTS[:6])]
            return rewards, actor_ids(pool)

    with Pool(resource="pair", patience=LIMIT) as pool:
        own = [verdict.reward for verdict in pool.verify(SUM, ATTEMPTS)]
        rewards, ids = ray.get(elsewhere.remote())
        assert rewards == own[:6] == [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
        assert ids and ids <= actor_ids(pool) and len(actor_ids(pool)) == 2
        # The other pool is closed by now, and this one goes on.
        assert [verdict.reward for verdict in pool.verify(SUM, ATTEMPTS)] == own


def test_the_functions_for_trainers_use_the_pool(driver: None, pair: dict[str, Any], gate: Gate) -> None:
    """As in a reward worker of verl or OpenRLHF, which is an actor somewhere in the cluster."""
    gate.open()
    truth = json.dumps({"inputs": ["1 2\n"], "outputs": ["3\n"]})
    right, wrong = f"```python\n{RIGHT}\n```", "```python\nprint(4)\n```"

    @ray.remote(num_cpus=0)
    class RewardWorker:
        async def verl(self) -> list[float]:
            settings: dict[str, Any] = {"url": "ray:pair", "patience": LIMIT}
            calls = (verl.compute_score("code", text, truth, **settings) for text in [right, wrong] * 20)
            return [found["score"] for found in await asyncio.gather(*calls)]

        def openrlhf(self) -> Any:
            os.environ["VERIPLAY_URL"] = "ray:pair"
            return openrlhf.reward_func([right, wrong], ["", ""], [truth, truth])

        def trl(self) -> Any:
            return trl.reward(url="ray:pair")(completions=[right, wrong], ground_truth=[truth] * 2)

    worker = RewardWorker.remote()
    assert ray.get(worker.verl.remote()) == [1.0, 0.0] * 20
    assert ray.get(worker.openrlhf.remote())["rewards"] == [1.0, 0.0]
    assert ray.get(worker.trl.remote()) == [1.0, 0.0]


def test_the_real_openrlhf_executor_uses_the_pool(
    driver: None, pair: dict[str, Any], gate: Gate, openrlhf_agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.open()
    monkeypatch.setenv("VERIPLAY_URL", "ray:pair")
    queries = [f"Q: ```python\n# {at}\n{RIGHT if at % 2 else WRONG}\n```" for at in range(40)]
    truth = json.dumps({"inputs": ["40 2\n"], "outputs": ["42\n"]})

    async def fetch() -> list[Any]:
        executor = openrlhf_agent.SingleTurnAgentExecutor(openrlhf.__file__)
        return list(await executor._fetch_rewards_via_func(queries, ["Q: "] * 40, [truth] * 40))

    assert [found["rewards"] for found in asyncio.run(fetch())] == [float(at % 2) for at in range(40)]


def test_single_programs_are_not_for_a_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIPLAY_URL", "ray:")
    with pytest.raises(ValueError, match="judges attempts and runs no single programs; hint"):
        veriplay.run("print(1)")


def test_ray_that_is_shut_down_is_no_verdict(
    driver: None, pair: dict[str, Any], gate: Gate, threads: ThreadPoolExecutor
) -> None:
    pool = Pool(resource="pair", in_flight=1, batch=8, patience=LIMIT)
    judging = Judging(pool, threads)
    held = arrivals(gate, "p1", "p2")
    ray.shutdown()
    with pytest.raises(Unmeasured, match="ray_lost"):
        judging.result()
    assert pool.closed and len(held) == 2
    with pytest.raises(Unmeasured, match="ray_lost"):
        pool.verify(SUM, [RIGHT])
    (found,) = pool.measure(SUM, [RIGHT])
    assert found.fault is not None and found.fault.kind == "ray_lost" and found.reward is None
    with pytest.raises(VeriplayError, match="Ray is not initialised in this process; hint"):
        Pool()
    gate.open()


def test_a_pool_is_of_one_session_of_ray(machines: Machines, pair: dict[str, Any], gate: Gate) -> None:
    gate.open()
    pools: list[Pool] = []
    for _ in range(2):
        ray.init(address=machines.cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        pools.append(shared_pool("ray:pair", LIMIT))
        assert pools[-1].verify(SUM, [{"program": RIGHT}])[0].accepted
        if len(pools) == 2:
            # It was idle, and finds out when it is asked.
            with pytest.raises(Unmeasured, match="ray_lost: Ray was shut down under the pool; hint: make another"):
                pools[0].verify(SUM, [{"program": RIGHT}])
        ray.shutdown()
    assert pools[0] is not pools[1] and pools[0].closed


def test_a_pool_that_ends_fails_what_is_under_way_and_a_shared_one_is_made_again(
    driver: None, pair: dict[str, Any], gate: Gate, threads: ThreadPoolExecutor
) -> None:
    pool = shared_pool("ray:pair", 1.0)
    assert shared_pool("ray:pair", 1.0) is pool
    judging = Judging(pool, threads)
    gate.arrival()
    pool.close()
    with pytest.raises(VeriplayError, match="the pool was closed"):
        judging.result()
    gate.open()
    again = shared_pool("ray:pair", 1.0)
    assert again is not pool and again.verify(SUM, [{"program": RIGHT}])[0].accepted
    again.close()


def test_a_killed_server_loses_nothing(judging: Judging, gate: Gate, machines: Machines, expected: list[str]) -> None:
    arrivals(gate, "p1", "p2")["p2"].go()
    pid = machines.server("p1").pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    gate.open()
    assert judging.result() == expected


@pytest.mark.parametrize("settings", [{"in_flight": 0}, {"batch": 0}])
def test_settings_that_hand_out_nothing_are_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="hint: both must be at least 1"):
        Pool(**settings)


def test_without_ray_the_module_says_what_is_missing() -> None:
    script = "import sys; sys.modules['ray'] = None; import veriplay.ray"
    env = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    failed = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True)
    assert failed.returncode == 1 and "needs the package Ray; hint: `pip install ray`" in failed.stderr
