"""Ray: a pool of the nodes of a cluster, each of which judges on a server of its own.

.. code-block:: python

    import ray
    import veriplay.ray

    ray.init(address="auto")
    with veriplay.ray.Pool() as pool:
        verdicts = pool.verify(task, attempts)

On each node one actor uses that node's local server (:mod:`veriplay.local`), which reward functions on the node share. The pool hands batches
to the actors, a bounded number to each at a time. When an actor or a node is lost, its batches go to others; a node that joins gets its part;
each attempt has exactly one verdict, in order. A fault of a machine is never a verdict.

The functions for trainers use a pool, one for each process, where their URL is ``ray:``, or ``ray:RESOURCE`` for the nodes that have this
custom resource: ``url: "ray:"`` for verl, ``VERIPLAY_URL=ray:`` for OpenRLHF and others.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

from ._dispatch import Batch, Dispatcher, Item, Reply, Worker
from ._wire import Conditions
from .client import Client
from .errors import Fault, LocalServerError, Unmeasured, VeriplayError
from .local import LocalServer
from .records import Attempt, Verdict
from .tasks import pair

try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise ImportError("`veriplay.ray` needs the package Ray; hint: `pip install ray`") from error

__all__ = ["NodeServer", "Pool", "shared_pool"]

log = logging.getLogger(__name__)

#: Batches that a node may have at a time, so that its server has work while answers travel.
IN_FLIGHT = 4
#: Attempts of a batch.
MOST_ATTEMPTS = 512
#: Seconds without any node that is ready, after which attempts count as not measured.
PATIENCE = 600.0
#: Seconds without an answer of its own server after which an actor hands its attempts back.
NODE_PATIENCE = 60.0
#: Seconds between two looks at the nodes of the cluster, while there is work.
LOOK_SECONDS = 1.0
#: Batches that an actor judges at once, from all the pools that share it.
THREADS = 32
#: Where the actors have their names.
NAMESPACE = "veriplay"


class NodeServer:
    """The actor of a node: it judges on the node's local server.

    Pools of the same job share it. What goes wrong is a part of its answers, so that an exception is a fault of Ray's.
    """

    def __init__(self) -> None:
        self._client: Client | None = None

    def start(self) -> str | LocalServerError:
        """Starts the server, and says what its verdicts depend on besides the request."""
        try:
            info = self._connect().info()
        except VeriplayError as error:
            return error if isinstance(error, LocalServerError) else LocalServerError(str(error))
        limits = json.dumps(info.get("limits"), sort_keys=True)
        return f"version {info.get('version')} with the image {info.get('image_digest')} and the limits {limits}"

    def judge(self, attempts: Sequence[Attempt], conditions: Conditions) -> Reply:
        """Judges a batch."""
        found: dict[int, Verdict] = {}
        try:
            for index, verdict in self._connect().stream(attempts, conditions):
                found[index] = verdict
        except VeriplayError as error:
            return Reply(found, error)
        return Reply(found)

    def _connect(self) -> Client:
        # Not at `VERIPLAY_URL`: that may name the pool itself.
        if self._client is None:
            self._client = Client(endpoint=LocalServer.shared(), patience=NODE_PATIENCE)
        return self._client

    def __ray_shutdown__(self) -> None:
        """Ends the server, where nobody else on the node uses it."""
        if self._client is not None:
            LocalServer.shared().release()


class Pool:
    """Judges attempts on the nodes of a Ray cluster. It may be used from any number of threads and event loops.

    Args:
        resource: uses only nodes that have this custom resource. By default all are used.
        cpus: CPUs that each node's actor reserves. The server beside it uses what the node has, whatever Ray counts.
        in_flight: batches that a node may have at a time, of this pool.
        batch: the most attempts of a batch.
        patience: seconds without any node that is ready, after which attempts count as not measured.

    Raises:
        VeriplayError: Ray is not initialised in this process.
    """

    def __init__(
        self,
        *,
        resource: str | None = None,
        cpus: float = 0.0,
        in_flight: int = IN_FLIGHT,
        batch: int = MOST_ATTEMPTS,
        patience: float = PATIENCE,
    ) -> None:
        if in_flight < 1 or batch < 1:
            raise ValueError(f"`in_flight` is {in_flight} and `batch` {batch}; hint: both must be at least 1")
        if not ray.is_initialized():
            raise VeriplayError('Ray is not initialised in this process; hint: call `ray.init(address="auto")` first')
        self._resource, self._cpus = resource, cpus
        self._session = _session()
        self._dispatcher = Dispatcher(in_flight, batch, patience)
        self._looked = float("-inf")
        self._looking = False
        # What happens is done by one thread, which owns the dispatcher. `None` ends it.
        self._events: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed: Exception | None = None
        self._thread = threading.Thread(target=self._serve, name="veriplay-pool", daemon=True)
        # What asks Ray's control plane is done by another one: a call blocks while that is away, and for ever where Ray is shut down under it.
        self._asked: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._asker = threading.Thread(target=self._ask, name="veriplay-pool-asker", daemon=True)
        self._thread.start()
        self._asker.start()

    def verify(self, tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
        """Judges attempts, as :meth:`veriplay.Client.verify` does: a verdict for each, in order.

        Raises:
            Unmeasured: no node was ready for ``patience`` seconds, or Ray was shut down.
            LocalServerError: no node can start its server. The message has the reason of each.
            Rejected: a request is invalid. A row that cannot be read is the fault of its own attempts.
        """
        with self._submit(pair(tasks, attempts), Conditions(**conditions)) as futures:
            return [future.result() for future in futures]

    def measure(self, tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
        """As :meth:`verify`, but without nodes each attempt that has no verdict has a fault, and there is no exception."""
        paired = pair(tasks, attempts)
        try:
            with self._submit(paired, Conditions(**conditions)) as futures:
                return [_measured(future) for future in futures]
        except Unmeasured as error:
            return [Verdict.from_fault(error.fault)] * len(paired)

    async def judge(self, task: Any, attempt: Any, **conditions: Any) -> Verdict:
        """Judges one attempt. Calls that are made while the nodes are busy travel together.

        Raises:
            Unmeasured, LocalServerError, Rejected: as for :meth:`verify`.
        """
        paired = pair(task if isinstance(task, (str, bytes)) else [task], [attempt])
        with self._submit(paired, Conditions(**conditions)) as (future,):
            return await asyncio.wrap_future(future)

    async def measure_one(self, task: Any, attempt: Any, **conditions: Any) -> Verdict:
        """As :meth:`judge`, but without nodes the attempt has a fault, and there is no exception."""
        try:
            return await self.judge(task, attempt, **conditions)
        except Unmeasured as error:
            return Verdict.from_fault(error.fault)

    @property
    def closed(self) -> bool:
        """Whether the pool judges nothing any more: it was closed, or Ray was shut down."""
        return self._closed is not None or _session() != self._session

    def close(self) -> None:
        """Ends the pool, and the actors that it started. What is under way fails."""
        self._events.put(None)
        self._thread.join()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _submit(self, attempts: Sequence[Attempt], conditions: Conditions) -> Iterator[list[Future[Verdict]]]:
        """The futures of the attempts. What still waits when the caller leaves is not judged."""
        until = None if conditions.deadline is None else time.monotonic() + conditions.deadline
        items = [Item(attempt, conditions, until) for attempt in attempts]
        with self._lock:
            if self._closed is not None:
                raise self._closed
            self._events.put(lambda: self._dispatcher.submit(items, time.monotonic()))
        try:
            yield [item.future for item in items]
        finally:
            for item in items:
                item.future.cancel()

    # The thread of the pool.

    def _serve(self) -> None:
        try:
            while self._turn():
                pass
            error: Exception = VeriplayError("the pool was closed")
        except Exception as found:
            error = found
            log.exception("the pool has failed")
        self._asked.put(None)
        with self._lock:
            self._closed = error
        # What was submitted in the meantime fails too.
        with contextlib.suppress(queue.Empty):
            while True:
                if event := self._events.get_nowait():
                    event()
        self._dispatcher.fail(error)
        # Without their handles the actors end.
        self._dispatcher.nodes.clear()

    def _turn(self) -> bool:
        """Waits for what happens next, and does what follows from it; ``False`` at the end."""
        if not self._take_events():
            return False
        if self._dispatcher.busy and _session() != self._session:
            # Without Ray another call would start a cluster of its own, and handles of actors are good for one session only.
            hint = "make another pool after `ray.init`"
            raise Unmeasured(Fault("ray_lost", f"Ray was shut down under the pool; hint: {hint}"))
        self._look()
        now = time.monotonic()
        for worker in self._dispatcher.starts(now):
            self._asked.put(functools.partial(self._start, worker))
        for batch in self._dispatcher.batches(now):
            # The batch before it may have shown that the actor is lost.
            if batch.worker.node.worker is batch.worker:
                self._hand_out(batch)
        self._dispatcher.give_up(now)
        return True

    def _take_events(self) -> bool:
        wait: float | None = None
        if self._dispatcher.busy:
            rest = self._dispatcher.next_rest(time.monotonic())
            wait = LOOK_SECONDS if rest is None else min(LOOK_SECONDS, rest)
        with contextlib.suppress(queue.Empty):
            event = self._events.get(timeout=wait)
            while event is not None:
                event()
                event = self._events.get_nowait()
            return False
        return True

    def _look(self) -> None:
        """Asks which nodes there are, from time to time."""
        now = time.monotonic()
        if self._dispatcher.busy and not self._looking and now - self._looked >= LOOK_SECONDS:
            self._looked, self._looking = now, True
            self._asked.put(self._list_nodes)

    def _on_nodes(self, alive: dict[str, str] | None) -> None:
        self._looking = False
        if alive is not None:
            for worker in self._dispatcher.see(alive, time.monotonic()):
                log.warning("node %s has left the cluster", worker.node.name)

    def _uses(self, row: dict[str, Any]) -> bool:
        return bool(row["Alive"]) and (self._resource is None or row["Resources"].get(self._resource, 0) > 0)

    def _on_start(self, worker: Worker, future: Future[str | LocalServerError]) -> None:
        now, error = time.monotonic(), future.exception()
        if getattr(error, "actor_init_failed", False):
            error = LocalServerError(_brief(error))
        found = error or future.result()
        if isinstance(found, LocalServerError):
            log.warning("node %s cannot judge: %s", worker.node.name, found)
            self._dispatcher.refused(worker, str(found), now)
        elif not isinstance(found, str):
            self._lose(worker, found)
        elif self._dispatcher.started(worker, found, now):
            log.info("node %s is ready", worker.node.name)
        else:
            log.warning("node %s is not used: %s", worker.node.name, worker.node.reason)

    def _hand_out(self, batch: Batch) -> None:
        try:
            answer = batch.worker.actor.judge.remote(batch.attempts, batch.conditions).future()
        except Exception as error:
            self._lose(batch.worker, error)
            return
        answer.add_done_callback(lambda future: self._events.put(lambda: self._on_answer(batch, future)))

    def _on_answer(self, batch: Batch, future: Future[Reply]) -> None:
        error = future.exception()
        if error is not None:
            self._lose(batch.worker, error)
            return
        self._dispatcher.answered(batch, future.result(), time.monotonic())

    def _lose(self, worker: Worker, error: BaseException) -> None:
        if worker.node.worker is worker:
            attempts = sum(len(batch.items) for batch in worker.batches)
            log.warning("node %s was lost with %d attempts: %s", worker.node.name, attempts, _brief(error))
        self._dispatcher.lost(worker, _brief(error), time.monotonic())

    # The thread that asks Ray.

    def _ask(self) -> None:
        while (question := self._asked.get()) is not None:
            question()

    def _list_nodes(self) -> None:
        alive = None
        try:
            alive = {row["NodeID"]: _name(row) for row in ray.nodes() if self._uses(row)}
        except Exception as error:
            log.warning("cannot list the nodes of the Ray cluster: %s", _brief(error))
        self._events.put(lambda: self._on_nodes(alive))

    def _start(self, worker: Worker) -> None:
        try:
            worker.actor = _find_or_start(worker.node.id, self._cpus)
            started = worker.actor.start.remote().future()
        except Exception as error:
            self._events.put(functools.partial(self._lose, worker, error))
            return
        started.add_done_callback(lambda future: self._events.put(lambda: self._on_start(worker, future)))


def shared_pool(url: str, patience: float) -> Pool:
    """The pool of this process for ``ray:`` or ``ray:RESOURCE``."""
    with _pools_lock:
        pool = _pools.get((url, patience))
        if pool is None or pool.closed:
            pool = _pools[url, patience] = Pool(resource=url.removeprefix("ray:") or None, patience=patience)
        return pool


_pools: dict[tuple[str, float], Pool] = {}
_pools_lock = threading.Lock()


def _session() -> str | None:
    """Names the time between ``ray.init`` and ``ray.shutdown``."""
    return str(ray.get_runtime_context().get_worker_id()) if ray.is_initialized() else None


def _find_or_start(node: str, cpus: float) -> Any:
    """The actor of a node. Other processes of the job may have started it."""
    if not ray.is_initialized():
        raise VeriplayError("Ray was shut down")
    options = _actor_class().options(
        name=f"{ray.get_runtime_context().get_job_id()}-{node}",
        namespace=NAMESPACE,
        get_if_exists=True,
        num_cpus=cpus,
        max_concurrency=THREADS,
        # The pool starts another one, and hands out again what this one had.
        max_restarts=0,
        max_task_retries=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
    )
    return options.remote()


@functools.cache
def _actor_class() -> Any:
    return ray.remote(NodeServer)


def _measured(future: Future[Verdict]) -> Verdict:
    try:
        return future.result()
    except Unmeasured as error:
        return Verdict.from_fault(error.fault)


def _name(row: dict[str, Any]) -> str:
    return f"{row['NodeManagerHostname']} ({row['NodeID'][:8]})"


def _brief(error: BaseException | None) -> str:
    """The type of an error, and the last line of its text: Ray's are long, and end with the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else 'no reason given'}"
