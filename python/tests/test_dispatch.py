"""A pool's bookkeeping, with a clock and nodes that do what the test says: whatever is lost, each attempt has one answer."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from veriplay import Attempt, Conditions, Fault, LocalServerError, Rejected, ServerError, Task, Unmeasured, Verdict
from veriplay._dispatch import (
    FAULT_TRIES,
    LOSS_TRIES,
    START_SECONDS,
    START_TRIES,
    Batch,
    Dispatcher,
    Item,
    Reply,
    Worker,
)

SUM = Task.stdio([("1 2\n", "3\n")])
RIGHT = Verdict("accepted", 1, 1)
LOST = Verdict.from_fault(Fault("worker_lost", "gone"))
PLAIN = Conditions()


def items(count: int, conditions: Conditions = PLAIN, until: float | None = None) -> list[Item]:
    return [Item(Attempt(SUM, str(at)), conditions, until) for at in range(count)]


def texts(batch: Batch) -> list[str]:
    return [attempt.text for attempt in batch.attempts]


def verdict_of(attempt: Attempt) -> Verdict:
    """One that says of which attempt it is."""
    return Verdict("accepted", 1, 1, evidence={"text": attempt.text})


def right(batch: Batch) -> Reply:
    return Reply({index: verdict_of(attempt) for index, attempt in enumerate(batch.attempts)})


def texts_of_verdicts(found: Sequence[Item]) -> list[str]:
    return [item.future.result(0).evidence["text"] for item in found]


class Cluster:
    """A dispatcher with nodes that are ready, unless a test says otherwise."""

    def __init__(self, *names: str, in_flight: int = 2, most: int = 100, patience: float = 60.0) -> None:
        self.dispatcher = Dispatcher(in_flight, most, patience)
        self.now = 0.0
        self.names = list(names)
        self.look()

    def look(self) -> list[Worker]:
        return self.dispatcher.see({name: name for name in self.names}, self.now)

    def submit(self, found: list[Item], *, start: bool = True) -> list[Item]:
        self.dispatcher.submit(found, self.now)
        if start:
            self.start()
        return found

    def start(self) -> None:
        for worker in self.dispatcher.starts(self.now):
            assert self.dispatcher.started(worker, "same", self.now)

    def batches(self) -> list[Batch]:
        return self.dispatcher.batches(self.now)

    def answer(self, batch: Batch, reply: Reply) -> None:
        self.dispatcher.answered(batch, reply, self.now)

    def rest(self) -> None:
        """Until every node has rested, and those without a worker have one."""
        self.now += 31.0
        self.start()


def test_attempts_are_shared_among_the_slots_of_the_nodes() -> None:
    cluster = Cluster("a", "b")
    found = cluster.submit(items(16))
    batches = cluster.batches()
    assert [(batch.worker.node.id, len(batch.items)) for batch in batches] == [("a", 4), ("b", 3), ("a", 3), ("b", 2)]
    assert cluster.batches() == []
    for batch in batches:
        cluster.answer(batch, right(batch))
    for batch in cluster.batches():
        cluster.answer(batch, right(batch))
    assert texts_of_verdicts(found) == [str(at) for at in range(16)]
    assert not cluster.dispatcher.busy


def test_a_node_has_no_more_than_its_batches_in_flight() -> None:
    cluster = Cluster("a", in_flight=3, most=5)
    cluster.submit(items(100))
    batches = cluster.batches()
    assert [len(batch.items) for batch in batches] == [5, 5, 5] and cluster.batches() == []
    cluster.answer(batches[1], right(batches[1]))
    assert [texts(batch) for batch in cluster.batches()] == [["15", "16", "17", "18", "19"]]


def test_nothing_is_handed_to_a_node_whose_server_is_starting() -> None:
    cluster = Cluster("a", "b")
    cluster.submit(items(4), start=False)
    first, second = cluster.dispatcher.starts(0.0)
    assert cluster.dispatcher.starts(0.0) == [] and cluster.batches() == []
    cluster.dispatcher.started(second, "same", 0.0)
    assert {batch.worker for batch in cluster.batches()} == {second}
    assert first.batches == []


def test_what_a_lost_node_had_is_handed_out_again_and_its_late_answers_are_ignored() -> None:
    cluster = Cluster("a", "b", in_flight=1)
    found = cluster.submit(items(4))
    first, second = cluster.batches()
    cluster.dispatcher.lost(first.worker, "killed", cluster.now)
    cluster.dispatcher.lost(first.worker, "told twice", cluster.now)
    cluster.answer(first, right(first))
    assert not any(item.future.done() for item in found)
    cluster.answer(second, right(second))
    again = cluster.batches()
    assert [batch.worker.node.id for batch in again] == ["b"] and texts(again[0]) == [*texts(first), "3"]
    cluster.answer(again[0], right(again[0]))
    assert texts_of_verdicts(found) == ["0", "1", "2", "3"]


def test_a_node_that_was_lost_rests_longer_each_time_and_comes_back() -> None:
    cluster = Cluster("a")
    cluster.submit(items(1))
    (batch,) = cluster.batches()
    rests = []
    for _ in range(12):
        cluster.dispatcher.lost(cluster.dispatcher.nodes["a"].worker or batch.worker, "killed", cluster.now)
        rests.append(cluster.dispatcher.next_rest(cluster.now))
        assert cluster.dispatcher.starts(cluster.now) == []
        cluster.now += rests[-1] or 0.0
        cluster.start()
    assert rests[:3] == pytest.approx([0.1, 0.2, 0.4]) and rests[-1] == pytest.approx(30.0)
    (batch,) = cluster.batches()
    cluster.answer(batch, right(batch))
    assert cluster.dispatcher.nodes["a"].failures == 0


def test_late_words_about_a_lost_actor_say_nothing_about_the_next_one() -> None:
    cluster = Cluster("a")
    (item,) = cluster.submit(items(1))
    (first,) = cluster.batches()
    cluster.dispatcher.lost(first.worker, "killed", cluster.now)
    cluster.rest()
    (second,) = cluster.batches()
    cluster.dispatcher.lost(first.worker, "another of its batches", cluster.now)
    cluster.dispatcher.refused(first.worker, "its start", cluster.now)
    node = cluster.dispatcher.nodes["a"]
    assert node.worker is second.worker and (node.failures, node.refusals) == (1, 0)
    cluster.answer(second, right(second))
    assert item.future.result(0).accepted


def test_a_node_that_leaves_gives_back_what_it_had_and_one_that_joins_gets_it() -> None:
    cluster = Cluster("a", in_flight=1)
    found = cluster.submit(items(3))
    (batch,) = cluster.batches()
    cluster.names = ["b"]
    assert cluster.look() == [batch.worker]
    assert not cluster.dispatcher.started(batch.worker, "same", 0.0)
    cluster.start()
    (again,) = cluster.batches()
    assert again.worker.node.id == "b"
    cluster.answer(again, right(again))
    assert texts_of_verdicts(found) == ["0", "1", "2"]


def test_a_fault_is_tried_again_and_then_told() -> None:
    cluster = Cluster("a")
    (item,) = cluster.submit(items(1))
    for _ in range(FAULT_TRIES):
        assert not item.future.done()
        cluster.rest()
        (batch,) = cluster.batches()
        cluster.answer(batch, Reply({0: LOST}))
    assert item.future.result(0).fault == LOST.fault and item.future.result(0).reward is None


def test_a_fault_of_its_own_deadline_is_final() -> None:
    cluster = Cluster("a")
    (item,) = cluster.submit(items(1))
    (batch,) = cluster.batches()
    cluster.answer(batch, Reply({0: Verdict.from_fault(Fault("deadline", "over"))}))
    assert item.future.done()


def test_a_node_on_which_everything_is_a_fault_rests() -> None:
    cluster = Cluster("a", "b", in_flight=1)
    cluster.submit(items(8))
    first, _ = cluster.batches()
    cluster.answer(first, Reply(dict.fromkeys(range(len(first.items)), LOST)))
    assert cluster.batches() == []
    cluster.rest()
    assert [batch.worker for batch in cluster.batches()] == [first.worker]


def test_verdicts_before_an_unreachable_server_are_kept() -> None:
    cluster = Cluster("a")
    found = cluster.submit(items(1) + items(1))
    for _ in range(FAULT_TRIES):
        cluster.rest()
        for batch in cluster.batches():
            told = {0: RIGHT} if batch.items[0] is found[0] else {}
            cluster.answer(batch, Reply(told, Unmeasured(Fault("unreachable", "no answer"))))
    assert found[0].future.result(0) is RIGHT
    assert found[1].future.result(0).fault == Fault("unreachable", "no answer")


def test_an_attempt_that_loses_every_node_is_not_handed_out_for_ever() -> None:
    cluster = Cluster("a")
    (item,) = cluster.submit(items(1))
    for _ in range(LOSS_TRIES):
        cluster.rest()
        (batch,) = cluster.batches()
        cluster.dispatcher.lost(batch.worker, "out of memory", cluster.now)
    fault = item.future.result(0).fault
    assert fault is not None and fault.kind == "node_lost" and "the last was a: out of memory" in fault.message
    assert not cluster.dispatcher.waiting


def test_an_answer_that_leaves_attempts_out_is_a_loss() -> None:
    cluster = Cluster("a", in_flight=1)
    found = cluster.submit(items(2))
    (batch,) = cluster.batches()
    cluster.answer(batch, Reply({1: RIGHT}))
    assert [item.future.done() for item in found] == [False, True] and found[0].losses == 1


def test_an_invalid_task_fails_alone() -> None:
    cluster = Cluster("a", in_flight=1)
    tasks = [Task.stdio([(f"{at}\n", "3\n")]) for at in range(8)]
    found = cluster.submit([Item(Attempt(task, str(at)), PLAIN) for at, task in enumerate(tasks)])
    error = Rejected(422, "no", field="tasks[0]")
    sizes = []
    while batches := cluster.batches():
        (batch,) = batches
        sizes.append(len(batch.items))
        cluster.answer(batch, Reply({}, error) if "5" in texts(batch) else right(batch))
    assert [type(item.future.exception(0)) for item in found] == [type(None)] * 5 + [Rejected] + [type(None)] * 2
    assert sizes == [8, 4, 4, 2, 2, 1, 1]


def test_a_service_that_breaks_the_protocol_is_an_error() -> None:
    cluster = Cluster("a")
    (item,) = cluster.submit(items(1))
    (batch,) = cluster.batches()
    cluster.answer(batch, Reply({}, ServerError("nonsense")))
    assert isinstance(item.future.exception(0), ServerError)


def refuse(cluster: Cluster, times: int) -> None:
    for _ in range(times):
        cluster.now += 31.0
        for worker in cluster.dispatcher.starts(cluster.now):
            cluster.dispatcher.refused(worker, f"no image on {worker.node.id}", cluster.now)
        cluster.dispatcher.give_up(cluster.now)


def test_servers_that_start_nowhere_are_an_error_with_the_reason_of_each_node() -> None:
    cluster = Cluster("a", "b", patience=1e9)
    (item,) = cluster.submit(items(1), start=False)
    refuse(cluster, START_TRIES - 1)
    assert not item.future.done()
    refuse(cluster, 1)
    with pytest.raises(LocalServerError, match=r"(?s)node a: no image on a.*node b: no image on b"):
        item.future.result(0)


def test_a_server_that_starts_on_one_node_only_is_enough() -> None:
    cluster = Cluster("a", "b", patience=1e9)
    (item,) = cluster.submit(items(1), start=False)
    for at in range(9):
        cluster.now += 31.0
        for worker in cluster.dispatcher.starts(cluster.now):
            if worker.node.id == "a":
                cluster.dispatcher.refused(worker, "no image", cluster.now)
            elif at == 8:
                cluster.dispatcher.started(worker, "same", cluster.now)
            else:
                cluster.dispatcher.lost(worker, "killed", cluster.now)
        cluster.dispatcher.give_up(cluster.now)
    (batch,) = cluster.batches()
    cluster.answer(batch, right(batch))
    assert item.future.result(0).accepted


def test_a_server_that_stops_to_start_leaves_its_attempts_to_others() -> None:
    cluster = Cluster("a", "b", in_flight=1)
    found = cluster.submit(items(2))
    first, second = cluster.batches()
    cluster.answer(first, Reply({}, LocalServerError("the image is gone")))
    cluster.answer(second, right(second))
    (again,) = cluster.batches()
    assert again.worker is second.worker and again.items == first.items
    cluster.answer(again, right(again))
    assert texts_of_verdicts(found) == ["0", "1"]


def test_without_any_node_attempts_are_not_measured_after_some_patience() -> None:
    cluster = Cluster(patience=60.0)
    (item,) = cluster.submit(items(1))
    cluster.now = 60.0
    cluster.dispatcher.give_up(cluster.now)
    assert not item.future.done()
    cluster.now = 60.1
    cluster.dispatcher.give_up(cluster.now)
    with pytest.raises(Unmeasured, match="no_nodes: no node of the Ray cluster was ready for 60 s; hint"):
        item.future.result(0)


def test_patience_begins_when_attempts_come() -> None:
    cluster = Cluster(patience=60.0)
    cluster.now = 1000.0
    (item,) = cluster.submit(items(1))
    cluster.dispatcher.give_up(cluster.now + 59.0)
    assert not item.future.done()


def test_an_actor_that_does_not_start_is_given_up() -> None:
    cluster = Cluster("a", patience=60.0)
    (item,) = cluster.submit(items(1), start=False)
    (worker,) = cluster.dispatcher.starts(0.0)
    cluster.dispatcher.give_up(START_SECONDS)
    assert not item.future.done() and worker.node.worker is worker
    cluster.dispatcher.give_up(START_SECONDS + 1.0)
    with pytest.raises(Unmeasured, match=r"(?s)node a: its actor did not start in 960 s; hint: .*CPUs"):
        item.future.result(0)


def test_a_node_whose_verdicts_could_differ_is_not_used() -> None:
    cluster = Cluster("a", "b")
    cluster.submit(items(4), start=False)
    first, second = cluster.dispatcher.starts(0.0)
    assert cluster.dispatcher.started(first, "version 1", 0.0)
    assert not cluster.dispatcher.started(second, "version 2", 0.0)
    assert "it has version 2, and node a has version 1; hint" in second.node.reason
    assert {batch.worker for batch in cluster.batches()} == {first}


def test_deadlines_count_from_when_attempts_came() -> None:
    cluster = Cluster("a", in_flight=1)
    timed = Conditions(deadline=10.0)
    (early,) = cluster.submit(items(1, timed, until=10.0))
    cluster.now = 4.0
    (late,) = cluster.submit(items(1, timed, until=14.0))
    (batch,) = cluster.batches()
    assert batch.items == [early, late] and batch.conditions.deadline == 10.0
    cluster.dispatcher.lost(batch.worker, "killed", cluster.now)
    cluster.now = 12.0
    cluster.start()
    (batch,) = cluster.batches()
    fault = early.future.result(0).fault
    assert fault is not None and fault.kind == "deadline"
    assert batch.items == [late] and batch.conditions.deadline == 2.0


def test_conditions_take_turns_and_do_not_mix() -> None:
    cluster = Cluster("a", in_flight=4, most=2)
    other = Conditions(seed=1)
    cluster.submit(items(6) + items(2, other))
    assert [batch.conditions.seed for batch in cluster.batches()] == [0, 1, 0, 1]


def test_attempts_that_nobody_waits_for_are_not_judged() -> None:
    cluster = Cluster("a", in_flight=1)
    found = cluster.submit(items(3))
    assert found[1].future.cancel()
    (batch,) = cluster.batches()
    assert batch.items == [found[0], found[2]]
    assert found[2].future.cancel()
    cluster.answer(batch, right(batch))
    assert found[0].future.result(0).accepted and not cluster.dispatcher.busy


def test_large_attempts_travel_in_more_batches() -> None:
    cluster = Cluster("a", in_flight=9, most=100)
    cluster.submit([Item(Attempt(SUM, "x" * (9 << 20)), PLAIN) for _ in range(3)])
    assert [len(batch.items) for batch in cluster.batches()] == [1, 1, 1]
    cluster = Cluster("a", in_flight=1, most=100)
    cluster.submit([Item(Attempt(SUM, "x" * (9 << 20)), PLAIN) for _ in range(3)])
    assert [len(batch.items) for batch in cluster.batches()] == [1]


def test_the_end_of_the_pool_fails_all_that_it_has() -> None:
    cluster = Cluster("a", in_flight=1, most=1)
    found = cluster.submit(items(3))
    cluster.batches()
    cluster.dispatcher.fail(Unmeasured(Fault("ray_lost", "shut down")))
    assert all(isinstance(item.future.exception(0), Unmeasured) for item in found) and not cluster.dispatcher.busy


@pytest.mark.parametrize("seed", range(40))
def test_whatever_happens_each_attempt_has_its_own_verdict_once(seed: int) -> None:
    """Nodes are killed, leave, join, answer in part or late, all by chance; the sum of it is an answer for each attempt."""
    chance = random.Random(seed)
    cluster = Cluster(*"abcd"[: chance.randint(1, 4)], in_flight=chance.randint(1, 3), most=chance.randint(1, 7))
    found = cluster.submit(items(60))
    flying: list[Batch] = []
    for _ in range(100_000):
        if all(item.future.done() for item in found):
            break
        cluster.now += chance.random()
        flying += cluster.batches()
        event = chance.random()
        if event < 0.6 and flying:
            batch = flying.pop(chance.randrange(len(flying)))
            cluster.answer(batch, right(batch))
        elif event < 0.63 and flying:
            cluster.dispatcher.lost(chance.choice(flying).worker, "killed", cluster.now)
        elif event < 0.66:
            cluster.names = [name for name in "abcd" if chance.random() < 0.6]
            cluster.look()
        cluster.start()
        cluster.dispatcher.give_up(cluster.now)
    told = [item.future.result(0) for item in found]
    # One that was lost with ten nodes has a fault; no other is without its own verdict.
    assert all(verdict.fault.kind == "node_lost" for verdict in told if verdict.fault is not None)
    assert [v.evidence["text"] for v in told if v.fault is None] == [
        item.attempt.text for item, v in zip(found, told, strict=True) if v.fault is None
    ]
    assert sum(verdict.fault is not None for verdict in told) <= 3
