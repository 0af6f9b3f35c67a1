"""Which node judges which attempts: the bookkeeping of a pool. No IO, no clock and no thread: :mod:`veriplay.ray` has those.

An attempt waits, is handed to a node in a batch, and leaves with its verdict. When a node is lost, all that it had waits again, at the front,
and whatever the lost one still answers is ignored: so an attempt gets exactly one verdict.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field, replace
from typing import Any

from ._wire import DEADLINE, FINAL, MOST_BYTES, Conditions
from .errors import Fault, LocalServerError, Rejected, Unmeasured, VeriplayError
from .records import Attempt, Verdict

__all__ = ["Batch", "Dispatcher", "Item", "Node", "Reply", "Worker"]

#: How often an attempt is judged that comes back with a fault of the service. The last fault is its answer.
FAULT_TRIES = 3
#: How often an attempt is handed out whose node is lost. It may be what kills the nodes.
LOSS_TRIES = 10
#: How often in a row a node's server may fail to start before the pool gives up, where the same holds for all nodes.
START_TRIES = 3
#: Seconds that an actor and its server may take to start. The first start on a machine compiles the Python image.
START_SECONDS = 960.0
#: Seconds: the pause after a node's first failure, which doubles with each, and the longest.
FIRST_REST = 0.1
LONGEST_REST = 30.0


@dataclass(frozen=True)
class Reply:
    """What a node answers: verdicts by the index in the batch, and why the others have none."""

    verdicts: Mapping[int, Verdict]
    error: VeriplayError | None = None


@dataclass(eq=False)
class Item:
    """An attempt on its way to its verdict."""

    attempt: Attempt
    conditions: Conditions
    until: float | None = None
    """When its deadline is over."""
    future: Future[Verdict] = field(default_factory=Future)
    faults: int = 0
    losses: int = 0

    def settle(self, found: Verdict | Exception) -> None:
        """Gives the answer, unless nobody waits for it any more."""
        with contextlib.suppress(InvalidStateError):
            if isinstance(found, Verdict):
                self.future.set_result(found)
            else:
                self.future.set_exception(found)


@dataclass(eq=False)
class Node:
    """A node of the cluster."""

    id: str
    name: str
    worker: Worker | None = None
    failures: int = 0
    """In a row, of any kind."""
    refusals: int = 0
    """How often in a row its server did not start."""
    rests_until: float = 0.0
    reason: str = ""
    """Of the last failure."""


@dataclass(eq=False)
class Worker:
    """The actor of a node, from its start to its loss. A node may have several, one after the other."""

    node: Node
    since: float
    ready: bool = False
    batches: list[Batch] = field(default_factory=list)
    """What it was handed and has not answered."""
    actor: Any = None
    """Its handle, for the pool."""


@dataclass(eq=False)
class Batch:
    """Attempts that are with a node."""

    worker: Worker
    items: list[Item]
    conditions: Conditions

    @property
    def attempts(self) -> list[Attempt]:
        """What to judge."""
        return [item.attempt for item in self.items]


class Dispatcher:
    """Hands attempts to nodes.

    Args:
        in_flight: batches that a node may have at a time.
        most: attempts of a batch.
        patience: seconds without any node that is ready, after which waiting attempts fail.
    """

    def __init__(self, in_flight: int, most: int, patience: float) -> None:
        self._in_flight = in_flight
        self._most = most
        self._patience = patience
        self.nodes: dict[str, Node] = {}
        self._waiting: dict[Conditions, deque[Item]] = {}
        # Batches that are sent as they are: parts of one that a service refused as a whole.
        self._parts: deque[list[Item]] = deque()
        self._identity: tuple[str, str] | None = None
        self._hope = 0.0

    # What happens.

    def submit(self, items: Iterable[Item], now: float) -> None:
        """Attempts are to be judged."""
        if not self.waiting:
            self._hope = now
        for item in items:
            self._waiting.setdefault(item.conditions, deque()).append(item)

    def see(self, alive: Mapping[str, str], now: float) -> list[Worker]:
        """These nodes are there, by id with their names. Returns the workers of those that are not any more."""
        gone = [self.nodes.pop(id) for id in list(self.nodes) if id not in alive]
        for id, name in alive.items():
            self.nodes.setdefault(id, Node(id, name))
        workers = [node.worker for node in gone if node.worker is not None]
        for worker in workers:
            self.lost(worker, "the node has left the cluster", now)
        return workers

    def started(self, worker: Worker, identity: str, now: float) -> bool:
        """A node's server is ready. ``identity`` has what its verdicts depend on, which must be the same on all nodes."""
        node = worker.node
        if node.worker is not worker:
            return False
        first = self._identity = self._identity or (identity, node.name)
        if identity != first[0]:
            hint = "install the same version of veriplay and its image on all nodes"
            self.refused(worker, f"it has {identity}, and node {first[1]} has {first[0]}; hint: {hint}", now)
            return False
        worker.ready, node.refusals, self._hope = True, 0, now
        return True

    def refused(self, worker: Worker, reason: str, now: float) -> None:
        """A node's server does not start."""
        if worker.node.worker is worker:
            worker.node.refusals += 1
        self.lost(worker, reason, now)

    def lost(self, worker: Worker, reason: str, now: float) -> None:
        """A node's actor is gone, and with it what it had."""
        node = worker.node
        if node.worker is not worker:
            return
        node.worker = None
        self._rest(node, reason, now)
        batches, worker.batches = worker.batches, []
        # The oldest comes first again.
        for batch in reversed(batches):
            self._after_loss(batch.items, node)

    def answered(self, batch: Batch, reply: Reply, now: float) -> None:
        """A node has judged a batch, or a part of it."""
        if batch not in batch.worker.batches:
            return
        batch.worker.batches.remove(batch)
        faulty = [item for index, item in enumerate(batch.items) if self._take_verdict(item, reply.verdicts.get(index))]
        node, error = batch.worker.node, reply.error
        if error is None and len(faulty) < len(batch.items):
            node.failures, self._hope = 0, now
        elif error is None:
            self._rest(node, "it judged no attempt: each had a fault", now)
        self._put_back(faulty)
        unjudged = [item for index, item in enumerate(batch.items) if index not in reply.verdicts]
        if isinstance(error, LocalServerError):
            self._put_back(unjudged)
            self.refused(batch.worker, str(error), now)
        elif isinstance(error, Unmeasured):
            self._rest(node, str(error), now)
            self._after_fault(unjudged, error.fault)
        elif isinstance(error, Rejected):
            self._after_refusal(unjudged, error)
        elif error is not None:
            for item in unjudged:
                item.settle(error)
        else:
            self._after_loss(unjudged, node)

    def fail(self, error: Exception) -> None:
        """Nothing will be judged any more."""
        for worker in self._workers():
            batches, worker.batches = worker.batches, []
            for batch in batches:
                self._settle(batch.items, error)
        self._fail_waiting(error)

    # What is to be done.

    @property
    def waiting(self) -> bool:
        """Whether attempts wait for a node."""
        return bool(self._waiting or self._parts)

    @property
    def busy(self) -> bool:
        """Whether attempts wait, or are with a node."""
        return self.waiting or any(worker.batches for worker in self._workers())

    def starts(self, now: float) -> list[Worker]:
        """The workers to start, where attempts wait."""
        if not self.waiting:
            return []
        idle = [node for node in self.nodes.values() if node.worker is None and node.rests_until <= now]
        started = [Worker(node, now) for node in idle]
        for worker in started:
            worker.node.worker = worker
        return started

    def batches(self, now: float) -> list[Batch]:
        """The batches to hand out. Nodes that have the fewest come first."""
        self._expire(now)
        found: list[Batch] = []
        ready = self._ready(now)
        free = [worker for worker in ready if len(worker.batches) < self._in_flight]
        for level in range(self._in_flight if free else 0):
            for worker in free:
                if len(worker.batches) <= level and (items := self._take(len(ready) * self._in_flight)):
                    worker.batches.append(Batch(worker, items, _conditions(items, now)))
                    found.append(worker.batches[-1])
        return found

    def give_up(self, now: float) -> None:
        """Fails what waits, where no node can judge it."""
        for worker in self._workers():
            if not worker.ready and now - worker.since > START_SECONDS:
                hint = "has the node the CPUs that the pool asks for?"
                self.lost(worker, f"its actor did not start in {START_SECONDS:g} s; hint: {hint}", now)
        if not self.waiting or self._workers():
            return
        nodes = list(self.nodes.values())
        if nodes and all(node.refusals >= START_TRIES for node in nodes):
            self._fail_waiting(LocalServerError(f"no node of the Ray cluster can start its server:\n{_reasons(nodes)}"))
        elif now - self._hope > self._patience:
            found = (
                f":\n{_reasons(nodes)}"
                if nodes
                else "; hint: are there nodes with the resource that the pool asks for?"
            )
            text = f"no node of the Ray cluster was ready for {self._patience:g} s{found}"
            self._fail_waiting(Unmeasured(Fault("no_nodes", text)))

    def next_rest(self, now: float) -> float | None:
        """Seconds until a node has rested that attempts may wait for."""
        rests = [node.rests_until - now for node in self.nodes.values() if node.rests_until > now]
        return min(rests) if rests and self.waiting else None

    # The steps.

    def _workers(self) -> list[Worker]:
        return [node.worker for node in self.nodes.values() if node.worker is not None]

    def _ready(self, now: float) -> list[Worker]:
        return [worker for worker in self._workers() if worker.ready and worker.node.rests_until <= now]

    def _rest(self, node: Node, reason: str, now: float) -> None:
        node.reason = reason
        node.rests_until = now + min(LONGEST_REST, FIRST_REST * 2.0 ** min(node.failures, 32))
        node.failures += 1

    def _take(self, slots: int) -> list[Item]:
        """The next attempts of the same conditions. What waits is shared among all slots, so that the last batches are small."""
        while self._parts:
            if items := _wanted(self._parts.popleft()):
                return items
        while self._waiting:
            conditions, queue = next(iter(self._waiting.items()))
            items = _take_from(queue, min(self._most, -(-len(queue) // slots)))
            # Other conditions are next.
            del self._waiting[conditions]
            if queue:
                self._waiting[conditions] = queue
            if items:
                return items
        return []

    def _expire(self, now: float) -> None:
        fault = Verdict.from_fault(Fault(DEADLINE, "the deadline was over before a node was free"))
        for queue in self._waiting.values():
            # The same conditions have the same deadline, so the first to come is the first to expire.
            while queue and queue[0].until is not None and queue[0].until <= now:
                queue.popleft().settle(fault)
        self._waiting = {conditions: queue for conditions, queue in self._waiting.items() if queue}

    def _take_verdict(self, item: Item, verdict: Verdict | None) -> bool:
        """Settles an attempt that has its final verdict; says whether it is to be tried again."""
        if verdict is None:
            return False
        if verdict.fault is not None and verdict.fault.kind not in FINAL:
            item.faults += 1
            if item.faults < FAULT_TRIES:
                return True
        item.settle(verdict)
        return False

    def _after_fault(self, items: list[Item], fault: Fault) -> None:
        lost = Verdict.from_fault(fault)
        self._put_back([item for item in items if self._take_verdict(item, lost)])

    def _after_loss(self, items: list[Item], node: Node) -> None:
        for item in items:
            item.losses += 1
            if item.losses >= LOSS_TRIES:
                text = f"each of {item.losses} nodes was lost that had the attempt; the last was {node.name}: {node.reason}"
                item.settle(Verdict.from_fault(Fault("node_lost", text, item.losses - 1)))
        self._put_back([item for item in items if item.losses < LOSS_TRIES])

    def _after_refusal(self, items: list[Item], error: Rejected) -> None:
        """One invalid task has a whole request refused: halves are tried, until it is alone."""
        groups: dict[str, list[Item]] = {}
        for item in items:
            groups.setdefault(item.attempt.task.key, []).append(item)
        parts = list(groups.values())
        if len(parts) == 1:
            self._settle(items, error)
            return
        middle = len(parts) // 2
        self._parts += [[item for part in half for item in part] for half in (parts[:middle], parts[middle:]) if half]

    def _put_back(self, items: list[Item]) -> None:
        for item in reversed(items):
            self._waiting.setdefault(item.conditions, deque()).appendleft(item)

    def _fail_waiting(self, error: Exception) -> None:
        queues: list[Iterable[Item]] = [*self._waiting.values(), *self._parts]
        self._waiting, self._parts = {}, deque()
        for queue in queues:
            self._settle(queue, error)

    def _settle(self, items: Iterable[Item], found: Verdict | Exception) -> None:
        for item in items:
            item.settle(found)


def _wanted(items: list[Item]) -> list[Item]:
    return [item for item in items if not item.future.done()]


def _take_from(queue: deque[Item], most: int) -> list[Item]:
    items: list[Item] = []
    tasks: set[str] = set()
    size = 0
    while queue and len(items) < most:
        item = queue[0]
        if not item.future.done():
            task = item.attempt.task
            size += len(item.attempt.text) + (len(task.wire) if task.key not in tasks else 0)
            if items and size > MOST_BYTES:
                break
            tasks.add(task.key)
            items.append(item)
        queue.popleft()
    return items


def _conditions(items: list[Item], now: float) -> Conditions:
    """With the time that is left. That of the last counts: none is given up too early."""
    left = [item.until - now for item in items if item.until is not None]
    return replace(items[0].conditions, deadline=max(left)) if left else items[0].conditions


def _reasons(nodes: list[Node]) -> str:
    return "\n".join(f"  node {node.name}: {node.reason or 'it is starting'}" for node in nodes)
