"""The clients against a scripted service: what is sent, what is asked again, and what is raised."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from scripted import Script, answer, fault, lines_then, serving, status, verdict

import veriplay
from veriplay import AsyncClient, Attempt, Client, Limits, Rejected, ServerError, Task, Unmeasured, Verdict

TASK = Task.stdio([("1\n", "1\n")])
OTHER = Task.calls("f", [([1, "a"], {2: 3.5})])


class Blocking:
    """A client whose pauses are noted and not made."""

    def __init__(self, script: Script, **settings: Any) -> None:
        self.pauses: list[float] = []
        self.client = Client(script.url, **settings)
        self.client._sleep = self.pauses.append

    def verify(self, *args: Any, **conditions: Any) -> list[Verdict]:
        return self.client.verify(*args, **conditions)

    def run(self, *args: Any, **settings: Any) -> veriplay.Outcome:
        return self.client.run(*args, **settings)


class Asynchronous:
    """The same for asyncio."""

    def __init__(self, script: Script, **settings: Any) -> None:
        self.pauses: list[float] = []
        self.client = AsyncClient(script.url, **settings)
        self.client._sleep = self._sleep

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def verify(self, *args: Any, **conditions: Any) -> list[Verdict]:
        return asyncio.run(self.client.verify(*args, **conditions))

    def run(self, *args: Any, **settings: Any) -> veriplay.Outcome:
        return asyncio.run(self.client.run(*args, **settings))


Make = Callable[..., Any]


@pytest.fixture(params=[Blocking, Asynchronous], ids=["blocking", "asyncio"])
def make(request: pytest.FixtureRequest) -> Make:
    kind: Make = request.param
    return kind


def statuses(verdicts: list[Verdict]) -> list[str | None]:
    return [verdict.status for verdict in verdicts]


def test_verdicts_come_in_the_order_of_the_attempts(make: Make) -> None:
    with serving() as service:
        verdicts = make(service).verify(TASK, ["right", "no", "right"])
    assert statuses(verdicts) == ["accepted", "wrong_answer", "accepted"]
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.0, 1.0]


def test_a_task_travels_once_for_all_its_attempts(make: Make) -> None:
    attempts = [Attempt(TASK, "a"), Attempt(OTHER, "b"), Attempt.program(TASK, "c")]
    with serving() as service:
        make(service).verify([attempt.task for attempt in attempts], attempts)
        (body,) = service.bodies()
    assert [task["format"] for task in body["tasks"]] == ["veriplay", "veriplay"]
    assert body["attempts"] == [
        {"task_id": TASK.name, "completion": "a"},
        {"task_id": OTHER.name, "completion": "b"},
        {"task_id": TASK.name, "program": "c"},
    ]
    problem = body["tasks"][1]["row"]["problem"]
    assert problem["checks"]["calls"]["cases"] == [{"input": ["1", "'a'"], "expected": "{2: 3.5}"}]


def test_conditions_are_sent(make: Make) -> None:
    with serving() as service:
        make(service).verify(TASK, ["a"], limits=Limits(fuel=5), seed=3, early_stop=True, deadline=1.5)
        (body,) = service.bodies()
    assert body["limits"] == {"fuel": 5}
    assert (body["seed"], body["early_stop"], body["deadline_ms"]) == (3, True, 1500)


def test_no_attempts_need_no_request(make: Make) -> None:
    with serving() as service:
        assert make(service).verify(TASK, []) == []
        assert service.requests == []


@pytest.mark.parametrize("code", [429, 502, 503, 504])
def test_a_busy_service_is_asked_again_after_a_pause(make: Make, code: int) -> None:
    with serving(status(code), status(code)) as service:
        client = make(service)
        assert statuses(client.verify(TASK, ["right"])) == ["accepted"]
        assert len(service.bodies()) == 3
    first, second = client.pauses
    assert 0.025 <= first <= 0.05 and 0.05 <= second <= 0.1


def test_retry_after_is_honoured(make: Make) -> None:
    with serving(status(429, retry_after="7")) as service:
        client = make(service)
        client.verify(TASK, ["right"])
    assert client.pauses == [7.0]


@pytest.mark.parametrize("code", [400, 401, 404, 413, 422])
def test_a_request_that_is_wrong_is_never_repeated(make: Make, code: int) -> None:
    with serving(status(code)) as service:
        with pytest.raises(Rejected, match=r"said no \(field `tasks\[0\]\.row`\)") as raised:
            make(service).verify(TASK, ["right"])
        assert len(service.requests) == 1
    assert raised.value.status == code and raised.value.field == "tasks[0].row"


def test_a_bug_of_the_service_is_told_at_once(make: Make) -> None:
    with serving(status(500)) as service, pytest.raises(ServerError, match="HTTP 500: said no"):
        make(service).verify(TASK, ["right"])


def test_patience_ends(make: Make) -> None:
    with serving(*[status(503, retry_after="3") for _ in range(9)]) as service:
        client = make(service, patience=2.0)
        with pytest.raises(Unmeasured, match=r"overloaded: .* answered HTTP 503: said no; gave up after 2 s") as raised:
            client.verify(TASK, ["right"])
    assert raised.value.fault.kind == "overloaded" and client.pauses == []


def test_a_service_that_is_not_there_is_no_wrong_answer(make: Make) -> None:
    with serving() as service:
        pass
    with pytest.raises(Unmeasured, match="unreachable"):
        make(service, patience=0.0).verify(TASK, ["right"])


@pytest.mark.parametrize("end", ["hang_up", "end_lines", "half_a_line"])
def test_what_was_answered_is_not_asked_again(make: Make, end: str) -> None:
    def ended(handler: Any) -> None:
        if end == "half_a_line":
            handler.piece(b'{"index": 0, "sta')
            handler.hang_up()
        else:
            getattr(handler, end)()

    with serving(lines_then([2, 1], ended)) as service:
        client = make(service)
        assert statuses(client.verify(TASK, ["right", "b", "right", "d"])) == [
            "accepted",
            "wrong_answer",
            "accepted",
            "wrong_answer",
        ]
        second = service.bodies()[1]
    assert [attempt["completion"] for attempt in second["attempts"]] == ["right", "d"]


def answer_and_leave(handler: Any) -> None:
    """Closes the connection after the answer, without having said so."""
    answer(handler)
    handler.hang_up()


def test_a_connection_that_was_closed_while_idle_costs_no_patience() -> None:
    with serving(answer_and_leave) as service, Client(service.url, patience=0.0) as client:
        assert [client.run("1").stdout, client.run("2").stdout] == ["1", "2"]


def test_nor_does_one_of_asyncio() -> None:
    async def both(client: AsyncClient) -> list[str]:
        return [(await client.run("1")).stdout, (await client.run("2")).stdout]

    with serving(answer_and_leave) as service:
        assert asyncio.run(both(AsyncClient(service.url, patience=0.0))) == ["1", "2"]


def test_a_fault_is_asked_again_once_and_then_told(make: Make) -> None:
    def faulty(handler: Any) -> None:
        handler.begin_lines()
        for index, attempt in enumerate(handler.body["attempts"]):
            handler.line(fault(index) if "bad" in attempt["completion"] else verdict(handler, index))
        handler.end_lines()

    with serving(faulty, faulty) as service:
        verdicts = make(service).verify(TASK, ["right", "bad"])
        assert [len(body["attempts"]) for body in service.bodies()] == [2, 1]
    assert verdicts[0].accepted
    assert verdicts[1].status is None and verdicts[1].reward is None and not verdicts[1].measured
    with pytest.raises(Unmeasured, match=r"worker_lost: gone \(tried 4 times\)"):
        verdicts[1].require()


def test_a_fault_of_the_requests_own_deadline_is_final(make: Make) -> None:
    def late(handler: Any) -> None:
        handler.begin_lines()
        handler.line(fault(0, "deadline"))
        handler.end_lines()

    with serving(late) as service:
        (found,) = make(service).verify(TASK, ["right"], deadline=0.1)
        assert len(service.requests) == 1
    assert found.fault is not None and found.fault.kind == "deadline"


def test_a_task_that_cannot_judge_is_no_wrong_answer() -> None:
    evidence = {"rule": "reference", "detail": "why"}
    row = {"status": "unjudgeable", "passed": 0, "total": 3, "fuel": 1, "evidence": evidence, "judged": "d"}
    found = Verdict.from_json(row)
    assert found.reward is None and found.fraction is None
    with pytest.raises(Unmeasured, match="unjudgeable: why"):
        found.require()
    for rule in ("invalid_row", "unknown_task"):
        assert Verdict.from_json({**row, "evidence": {"rule": rule, "detail": "why"}}).reward is None
    chosen = Verdict.from_json({**row, "evidence": {"rule": "", "detail": "the program looks at frames"}})
    assert chosen.reward == 0.0, "an attempt cannot choose not to be measured"
    assert Verdict.from_json({**row, "status": "dropped"}).fault is not None


def test_a_service_that_stops_leaves_its_attempts_to_the_next(make: Make) -> None:
    def stopping(handler: Any) -> None:
        handler.begin_lines()
        handler.line(verdict(handler, 0))
        handler.line(fault(1, "stopped"))
        handler.end_lines()

    with serving(stopping, status(503), stopping, status(503)) as service:
        assert statuses(make(service).verify(TASK, ["right", "right", "right"])) == ["accepted"] * 3


@pytest.mark.parametrize("kind", ["host-fault", "deadline"])
def test_a_run_that_the_service_gave_up_is_not_repeated(make: Make, kind: str) -> None:
    def refuse(handler: Any) -> None:
        handler.reply(504, {"type": f"urn:veriplay:{kind}", "detail": "gone"}, "application/problem+json")

    with serving(refuse) as service:
        with pytest.raises(Unmeasured, match="gone"):
            make(service).run("1")
        assert len(service.requests) == 1


def test_two_tasks_of_one_name_go_apart(make: Make) -> None:
    tasks = [Task("mbpp", {"task_id": 3, "test_list": [text]}) for text in ("a", "b", "a")]
    with serving() as service:
        assert statuses(make(service).verify(tasks, ["right", "no", "right"])) == [
            "accepted",
            "wrong_answer",
            "accepted",
        ]
        bodies = service.bodies()
    assert [len(body["tasks"]) for body in bodies] == [1, 1]
    assert [attempt["task_id"] for attempt in bodies[0]["attempts"]] == ["3", "3"]


LONG = Task.stdio([("1\n" * 400, "1\n")])


def tell_digests(handler: Any) -> None:
    handler.begin_lines()
    handler.line({"tasks": [{"task_id": "t", "digest": f"d{at}"} for at in range(len(handler.body["tasks"]))]})
    for index in range(len(handler.body["attempts"])):
        handler.line(verdict(handler, index))
    handler.end_lines()


def test_a_long_task_travels_once_and_again_where_the_service_has_lost_it(make: Make) -> None:
    def forgotten(handler: Any) -> None:
        handler.reply(404, {"type": "urn:veriplay:unknown-task", "detail": "lost"}, "application/problem+json")

    with serving(tell_digests, tell_digests, forgotten) as service:
        client = make(service)
        for _ in range(3):
            assert statuses(client.verify([TASK, LONG], ["right", "right"])) == ["accepted", "accepted"]
        tasks = [body["tasks"] for body in service.bodies()]
    assert [["digest" in task for task in sent] for sent in tasks] == [
        [False] * 2,
        [False, True],
        [False, True],
        [False] * 2,
    ]
    assert tasks[1][1] == {"digest": "d1"} and client.pauses == []


def test_a_line_that_is_none_is_a_bug_of_the_service(make: Make) -> None:
    def nonsense(handler: Any) -> None:
        handler.begin_lines()
        handler.line({"index": 9, "status": "accepted"})
        handler.end_lines()

    with serving(nonsense) as service, pytest.raises(ServerError, match="cannot read the service's line"):
        make(service).verify(TASK, ["right"])


def test_large_batches_are_sent_in_parts(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veriplay._wire.MOST_ATTEMPTS", 3)
    with serving() as service:
        assert len(make(service).verify(TASK, ["right"] * 8)) == 8
        assert [len(body["attempts"]) for body in service.bodies()] == [3, 3, 2]


def test_bytes_bound_a_request_too(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veriplay._wire.MOST_BYTES", 1000)
    with serving() as service:
        assert len(make(service).verify(TASK, ["right" * 100] * 3 + ["right" * 1000])) == 4
        assert [len(body["attempts"]) for body in service.bodies()] == [1, 1, 1, 1]


def test_a_lone_surrogate_is_replaced(make: Make) -> None:
    with serving() as service:
        make(service).verify(TASK, ["x = '\ud800' # 😀"])
        (body,) = service.bodies()
    assert body["attempts"][0]["completion"] == "x = '�' # 😀"


def test_a_token_is_sent(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIPLAY_TOKEN", "s3cret")
    with serving() as service:
        make(service).verify(TASK, ["right"])
        assert service.requests[0][2]["authorization"] == "Bearer s3cret"


def test_a_run_is_reported(make: Make) -> None:
    with serving() as service:
        outcome = make(service).run("print(1)", "in", files={"a": b"\xff"}, call="f", arguments=[1, "x"])
        (body,) = service.bodies("/v1/run")
    assert outcome.ok and outcome.stdout == "print(1)" and outcome.fuel == 5
    assert body["files"] == {"a": {"base64": "/w=="}} and body["stdin"] == "in"
    assert body["call"] == {"function": "f", "arguments": "1, 'x'"}


def test_the_url_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as service:
        monkeypatch.setenv("VERIPLAY_URL", service.url)
        assert veriplay.Client().info() == {"version": "0"}


@pytest.mark.parametrize("url", ["localhost:80", "ftp://x", "http://", "ws://a"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="hint: write `http://host:port`"):
        Client(url)


def test_coroutines_that_judge_one_attempt_each_share_a_request() -> None:
    async def judge(client: AsyncClient) -> list[Verdict]:
        attempts = [Attempt(TASK, "right"), Attempt(OTHER, "no"), Attempt(TASK, "right")]
        return await asyncio.gather(*(client.judge(attempt) for attempt in attempts))

    with serving() as service:
        client = AsyncClient(service.url)
        assert statuses(asyncio.run(judge(client))) == ["accepted", "wrong_answer", "accepted"]
        # A second loop works too.
        asyncio.run(judge(client))
        assert [len(body["attempts"]) for body in service.bodies()] == [3, 3]


def test_one_invalid_task_does_not_spoil_the_others_of_a_shared_request() -> None:
    def picky(handler: Any) -> None:
        if any(task["row"].get("bad") for task in handler.body["tasks"]):
            status(422)(handler)
        else:
            answer(handler)

    async def judge(client: AsyncClient) -> list[Any]:
        bad = Task("apps", {"bad": True})
        attempts = [Attempt(TASK, "right"), Attempt(bad, "right"), Attempt(OTHER, "right")]
        return await asyncio.gather(*(client.judge(attempt) for attempt in attempts), return_exceptions=True)

    with serving(*[picky] * 4) as service:
        first, second, third = asyncio.run(judge(AsyncClient(service.url)))
    assert first.accepted and third.accepted and isinstance(second, Rejected)


def test_an_unreachable_service_is_told_to_every_coroutine_of_a_shared_request() -> None:
    async def judge(client: AsyncClient) -> list[Any]:
        return await asyncio.gather(*(client.judge(Attempt(TASK, "a")) for _ in range(3)), return_exceptions=True)

    with serving() as service:
        pass
    found = asyncio.run(judge(AsyncClient(service.url, patience=0.0)))
    assert [type(error) for error in found] == [Unmeasured] * 3


def test_a_loop_that_ends_while_calls_are_gathered_leaves_nothing_to_the_next() -> None:
    async def leave(client: AsyncClient) -> None:
        waiting = asyncio.ensure_future(client.judge(Attempt(TASK, "right")))
        await asyncio.sleep(0)
        waiting.cancel()

    with serving() as service:
        client = AsyncClient(service.url)
        for _ in range(20):
            asyncio.run(leave(client))
            assert asyncio.run(client.judge(Attempt(TASK, "right"))).accepted


def test_threads_share_a_client() -> None:
    with serving() as service, Client(service.url) as client:
        found: list[list[Verdict]] = []
        threads = [threading.Thread(target=lambda: found.append(client.verify(TASK, ["right"] * 20))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [len(verdicts) for verdicts in found] == [20] * 8


def test_a_forked_child_speaks_on_connections_of_its_own() -> None:
    with serving() as service, Client(service.url) as client:
        client.run("parent")
        child = os.fork()
        if child == 0:
            os._exit(0 if client.run("child").stdout == "child" and client.run("again").stdout == "again" else 1)
        outputs = [client.run(f"{at}").stdout for at in range(20)]
        assert os.waitpid(child, 0)[1] == 0
    assert outputs == [str(at) for at in range(20)]


def test_who_stops_reading_hangs_up() -> None:
    hung_up = threading.Event()

    def endless(handler: Any) -> None:
        handler.begin_lines()
        handler.line(verdict(handler, 0))
        handler.connection.settimeout(30)
        if handler.rfile.read(1) == b"":
            hung_up.set()
        handler.close_connection = True

    with serving(endless) as service:
        stream = Client(service.url).stream([Attempt(TASK, "right"), Attempt(TASK, "b")])
        next(stream)
        stream.close()
        assert hung_up.wait(30)


@pytest.mark.parametrize("error", [Unmeasured(veriplay.Fault("k", "m", 1)), Rejected(422, "t", "d", "f", "k", "h")])
def test_errors_cross_processes(error: Exception) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and vars(copy) == vars(error)
