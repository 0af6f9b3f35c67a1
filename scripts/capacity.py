#!/usr/bin/env python3
"""Simulates a trainer that asks for verdicts in bursts: how long a burst waits, and what limits it. Prints the tables of docs/measurements.md.

    python3 scripts/capacity.py nodes|windows|pools|faults|urls|gpu [--attempts N] [--loops SHARE]

A discrete-event simulation: it takes service times at random from `scripts/capacity.json`, which `scripts/measure-capacity.py` measured. What a pool
of `veriplay.ray` hands out, and when, is decided by the code that decides it in a real one. Seeds are fixed, so tables repeat.
"""

import argparse
import heapq
import itertools
import json
import random
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from veriplay import Attempt, Conditions, Task, Verdict  # noqa: E402
from veriplay._dispatch import Dispatcher, Item, Reply  # noqa: E402

CORES = 64
ATTEMPTS = 100_000
#: Of what a trainer asks for; the rest are endless loops, which end when their fuel does.
MIX = {"humaneval, right": 0.5, "humaneval, wrong": 0.25, "ten cases of standard input": 0.25}
#: Seconds that a message takes from one machine to another.
NETWORK = 0.0005
#: Seconds after which Ray says that a silent node is dead, by its default health checks.
SILENCE = 15.0
TASK, PLAIN, RIGHT = Task.stdio([("1", "1")]), Conditions(), Verdict("accepted", 1, 1)


@dataclass
class Costs:
    """Seconds of the processor on which the trainer's pool runs: a turn of its thread, for each node; a call; an attempt in it."""

    turn: float = 0.0
    node: float = 0.0
    call: float = 0.0
    attempt: float = 0.0

    @classmethod
    def measured(cls, pool):
        few, many = pool["turn_seconds"]["10"], pool["turn_seconds"]["1000"]
        node = (many - few) / 990
        return cls(few - 10 * node, node, pool["call_seconds"], pool["attempt_seconds"])


class Clock:
    """What happens, in order."""

    def __init__(self):
        self.now, self._order, self._events = 0.0, itertools.count(), []

    def after(self, seconds, what, *arguments):
        heapq.heappush(self._events, (self.now + seconds, next(self._order), what, arguments))

    def run(self):
        while self._events:
            self.now, _, what, arguments = heapq.heappop(self._events)
            what(*arguments)


@dataclass
class Node:
    """A machine with a worker on each core. Free workers take an attempt from each batch in turn."""

    clock: Clock
    free: int
    slowness: float = 1.0
    alive: bool = True
    batches: deque = field(default_factory=deque)
    waiting: int = 0
    longest: int = 0

    def judge(self, seconds, answer):
        """Judges a batch of attempts that take so long, and then answers."""
        self.batches.append([deque(seconds), len(seconds), answer])
        self.waiting += len(seconds)
        self._start()
        self.longest = max(self.longest, self.waiting)

    def _start(self):
        while self.free and self.batches and self.alive:
            batch = self.batches.popleft()
            self.free, self.waiting = self.free - 1, self.waiting - 1
            self.clock.after(batch[0].popleft() * self.slowness, self._end, batch)
            if batch[0]:
                self.batches.append(batch)

    def _end(self, batch):
        self.free, batch[1] = self.free + 1, batch[1] - 1
        if batch[1] == 0 and self.alive:
            self.clock.after(NETWORK, batch[2])
        self._start()


class Pool:
    """A `veriplay.ray.Pool`: one thread, which takes all that has happened and hands out what follows from it."""

    def __init__(self, clock, nodes, seconds, costs, in_flight=4, batch=512):
        self.clock, self.nodes, self.seconds, self.costs = clock, nodes, seconds, costs
        self.dispatcher = Dispatcher(in_flight, batch, 600.0)
        self.latencies, self.calls, self.busy = [], 0, 0.0
        self._inbox, self._running = [], False
        self.dispatcher.submit([Item(Attempt(TASK, str(at)), PLAIN) for at in range(len(seconds))], 0.0)
        self.see()
        for worker in self.dispatcher.starts(0.0):
            self.dispatcher.started(worker, "", 0.0)
        self.tell(lambda: None, 0.0)

    def see(self, gone=None):
        self.dispatcher.see({str(at): str(at) for at in range(len(self.nodes)) if at != gone}, self.clock.now)

    def tell(self, what, seconds):
        """Something has happened, which takes the thread so long."""
        self._inbox.append((what, seconds))
        if not self._running:
            self._running = True
            self._turn()

    def _turn(self):
        events, self._inbox = self._inbox, []
        spent = self.costs.turn + self.costs.node * len(self.nodes) + sum(seconds for _, seconds in events)
        for what, _ in events:
            what()
        for batch in self.dispatcher.batches(self.clock.now):
            spent += self.costs.call + self.costs.attempt * len(batch.items)
            self.calls += 1
            seconds = [self.seconds[int(item.attempt.text)] for item in batch.items]
            node, answer = self.nodes[int(batch.worker.node.id)], lambda batch=batch: self._answer(batch)
            self.clock.after(spent + NETWORK, node.judge, seconds, answer)
        self.busy += spent
        self.clock.after(spent, self._rest)

    def _rest(self):
        self._running = bool(self._inbox)
        if self._running:
            self._turn()

    def _answer(self, batch):
        self.tell(lambda: self._take(batch), self.costs.attempt * len(batch.items))

    def _take(self, batch):
        new = [item for item in batch.items if not item.future.done()]
        self.dispatcher.answered(batch, Reply(dict.fromkeys(range(len(batch.items)), RIGHT)), self.clock.now)
        self.latencies += [self.clock.now for item in new if item.future.done()]


def burst(seconds, nodes, costs, *, cores=CORES, pools=1, slow=1.0, lost=None, detected=0.0, **window):
    """A burst of attempts that take so long. One node may be slow, or be lost at a time."""
    clock = Clock()
    machines = [Node(clock, cores) for _ in range(nodes)]
    machines[0].slowness = slow
    shared = [Pool(clock, machines, seconds[at::pools], costs, **window) for at in range(pools)]

    def lose():
        machines[0].alive = False
        for pool in shared:
            clock.after(detected, pool.tell, lambda pool=pool: pool.see(gone=0), 0.0)

    if lost is not None:
        clock.after(lost, lose)
    clock.run()
    latencies = sorted(itertools.chain.from_iterable(pool.latencies for pool in shared))
    last = latencies[-1]
    return {
        "verdicts": len(latencies),
        "last": last,
        **{f"p{share}": percentile(latencies, share / 100) for share in (50, 99, 99.9)},
        "calls": sum(pool.calls for pool in shared),
        "cores busy": sum(seconds) / (nodes * cores * last),
        "trainer busy": max(pool.busy for pool in shared) / last,
        "waiting at a node": max(node.longest for node in machines),
    }


def by_url(seconds, clients, request, *, in_flight=64, cores):
    """Clients that send one request for each of these, of which each may have some under way, to one service of many cores."""
    clock, free, waiting, ends = Clock(), [cores], deque(), []
    queues = [deque(seconds[at::clients]) for at in range(clients)]

    def send(client, sends):
        # A client's processor makes and reads one request after the other.
        if queues[client]:
            begins[client] = max(clock.now, begins[client]) + request
            clock.after(begins[client] - clock.now + NETWORK, arrive, client, queues[client].popleft())
        if sends > 1:
            send(client, sends - 1)

    def arrive(client, needs):
        waiting.append((client, needs))
        serve()

    def serve():
        while free[0] and waiting:
            free[0] -= 1
            client, needs = waiting.popleft()
            clock.after(needs, done, client)

    def done(client):
        free[0] += 1
        ends.append(clock.now + NETWORK)
        send(client, 1)
        serve()

    begins = [0.0] * clients
    for client in range(clients):
        send(client, in_flight)
    clock.run()
    return {"last": max(ends), "cores busy": sum(seconds) / (cores * max(ends))}


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def draw(measured, count, loops, generator):
    """Seconds of attempts, between the measured quantiles of what each is like."""
    names, weights = [*MIX, "endless loop"], [*((1 - loops) * share for share in MIX.values()), loops]
    found = []
    for name in generator.choices(names, weights, k=count):
        quantiles = measured[name]["seconds"]
        place = generator.random() * (len(quantiles) - 1)
        low = int(place)
        found.append(quantiles[low] + (place - low) * (quantiles[low + 1] - quantiles[low]))
    return found


def cores_of_gpu(tokens, length, seconds, share=0.5):
    """Cores that judge what a GPU writes, where they may be busy for a share of the time."""
    return tokens / length * seconds / share


def table(head, rows):
    print("|", " | ".join(head), "|\n|", " | ".join("---" for _ in head), "|", sep=" ")
    for row in rows:
        print("|", " | ".join(row), "|")


def show(found, names):
    shown = {
        "verdicts": "{:,}",
        "calls": "{:,}",
        "waiting at a node": "{:,}",
        "cores busy": "{:.1%}",
        "trainer busy": "{:.0%}",
    }
    return [shown.get(name, "{:.2f} s").format(found[name]) for name in names]


BURST = ["last", "p50", "p99", "p99.9"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["nodes", "windows", "pools", "faults", "urls", "gpu"])
    parser.add_argument("--attempts", type=int, default=ATTEMPTS)
    parser.add_argument("--loops", type=float, default=0.01, help="share of attempts that never end by themselves")
    options = parser.parse_args()
    measured = json.loads(Path(__file__).with_name("capacity.json").read_text())
    costs = Costs.measured(measured["pool"])
    seconds = draw(measured["service"], options.attempts, options.loops, random.Random(1))
    mean = sum(seconds) / len(seconds)
    if options.table == "nodes":
        names = [*BURST, "cores busy", "trainer busy", "calls", "waiting at a node"]
        found = [(nodes, burst(seconds, nodes, costs)) for nodes in (1, 4, 16, 64, 250, 1000)]
        table(["nodes", *names], [[f"{nodes:,}", *show(one, names)] for nodes, one in found])
    elif options.table == "windows":
        settings = [
            (nodes, window, size) for nodes, size in ((16, 64), (16, 512), (1000, 512)) for window in (1, 2, 4, 8)
        ]
        found = [(*one, burst(seconds, one[0], costs, in_flight=one[1], batch=one[2])) for one in settings]
        names = [*BURST, "calls"]
        table(
            ["nodes", "`in_flight`", "`batch`", *names],
            [[f"{n:,}", str(w), str(b), *show(one, names)] for n, w, b, one in found],
        )
    elif options.table == "pools":
        names = [*BURST, "cores busy", "calls"]
        found = [(pools, burst(seconds, 1000, costs, pools=pools)) for pools in (1, 4, 16, 64)]
        table(["pools", *names], [[str(pools), *show(one, names)] for pools, one in found])
    elif options.table == "faults":
        names = ["verdicts", *BURST]
        faults = {
            "none": {},
            "one node ten times as slow": {"slow": 10.0},
            "one node killed": {"lost": 0.2},
            "one node silent": {"lost": 0.2, "detected": SILENCE},
        }
        found = [
            (nodes, name, burst(seconds, nodes, costs, **how)) for nodes in (16, 1000) for name, how in faults.items()
        ]
        table(["nodes", "fault", *names], [[f"{nodes:,}", name, *show(one, names)] for nodes, name, one in found])
    elif options.table == "urls":
        request = measured["request"]["new_connection_seconds"]
        names = ["last", "cores busy"]
        found = [(c, n, by_url(seconds, c, request, cores=n * CORES)) for c in (1, 8, 64) for n in (1, 16, 1000)]
        table(["clients", "nodes", *names], [[str(c), f"{n:,}", *show(one, names)] for c, n, one in found])
    else:
        print(f"a mean attempt takes {mean:.4f} s\n")
        rows = [(tokens, length) for tokens in (1_000, 5_000, 20_000) for length in (256, 1_024, 4_096)]
        cells = [[f"{t:,}", f"{n:,}", f"{t / n:.1f}", f"{cores_of_gpu(t, n, mean):.2f}"] for t, n in rows]
        table(["tokens/s of a GPU", "tokens of a response", "attempts/s", "cores"], cells)


if __name__ == "__main__":
    main()
