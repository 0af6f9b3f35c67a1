"""The package against the real service: the same verdicts as the command line, from every kind of client."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import veriplay
from veriplay import AsyncClient, Attempt, Client, Limits, LocalServerError, Rejected, Task, Unmeasured, Verifier
from veriplay.local import LocalServer

SUM = Task.stdio([("1 2\n", "3\n"), ("40 2\n", "42\n")])
AREA = Task.calls("area", [([2, 5], 10), ([3.5, 2], 7.0)])
RIGHT, WRONG = "print(sum(map(int, input().split())))", "print(3)"

pytestmark = pytest.mark.usefixtures("service")


def test_a_program_runs(service: str) -> None:
    with Client(service) as client:
        outcome = client.run("import sys\nprint(input() * 2, file=sys.stderr)\nprint(6 * 7)", "ab\n")
        assert outcome.ok and (outcome.stdout, outcome.stderr) == ("42\n", "abab\n") and outcome.fuel > 0
        called = client.run("def f(x, y): return {x: [y, 1.5]}", call="f", arguments=["a", None])
        assert called.value == "{'a': [None, 1.5]}"
        failed = client.run("1 / 0")
        assert failed.exit == "raised" and failed.error is not None and failed.error[0] == "ZeroDivisionError"
        files = client.run("print(open('data/in.txt').read())", files={"data/in.txt": b"here"})
        assert files.stdout == "here\n"
        endless = client.run("while True: pass", limits=Limits(fuel=10**8))
        assert endless.exit == "fuel_exhausted" and not endless.ok


def test_attempts_are_judged(service: str) -> None:
    attempts = [RIGHT, WRONG, "print(", "while True: pass", f"Of course:\n```python\n{RIGHT}\n```\n"]
    with Client(service) as client:
        found = client.verify(SUM, attempts, limits=Limits(fuel=10**9))
        status = [verdict.status for verdict in found]
        assert status == ["accepted", "wrong_answer", "compile_error", "fuel_exceeded", "accepted"]
        assert [verdict.reward for verdict in found] == [1.0, 0.0, 0.0, 0.0, 1.0]
        assert found[1].passed == 1 and found[1].fraction == 0.5
        area = "def area(a, b): return a * b"
        assert [v.status for v in client.verify(AREA, [area, area + " + 1"])] == ["accepted", "wrong_answer"]


def test_asyncio_and_gathered_calls_agree(service: str) -> None:
    async def judge() -> list[str | None]:
        async with AsyncClient(service) as client:
            batch = await client.verify(SUM, [RIGHT, WRONG])
            single = await asyncio.gather(*(client.judge(Attempt(SUM, text)) for text in (RIGHT, WRONG)))
            return [verdict.status for verdict in [*batch, *single]]

    assert asyncio.run(judge()) == ["accepted", "wrong_answer"] * 2


def test_verdicts_are_those_of_the_command_line(service: str, binary: str, tmp_path: Path) -> None:
    numbered = [f"# {at}\n{RIGHT if at % 3 else WRONG}" for at in range(24)]
    (tmp_path / "tasks.jsonl").write_text(json.dumps(SUM.row) + "\n")
    rows = ({"task_id": SUM.name, "program": program} for program in numbered)
    (tmp_path / "attempts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [binary, "verify", "--tasks", "tasks.jsonl", "--attempts", "attempts.jsonl", "--no-cache"]
    written = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    expected = [json.loads(line) for line in written.splitlines()]
    with Client(service) as client:
        found = client.verify(SUM, [Attempt.program(SUM, program) for program in numbered])
    assert [(v.status, v.passed, v.total, v.fuel, dict(v.evidence), v.judged) for v in found] == [
        (row["status"], row["passed"], row["total"], row["fuel"], row["evidence"], row["judged"]) for row in expected
    ]


@pytest.mark.parametrize(
    "truth",
    [
        {"inputs": ["1 2\n"], "outputs": ["3\n"]},
        {"input_output": json.dumps({"inputs": ["1 2\n"], "outputs": ["3\n"]})},
        [{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}],
        {"test_cases": [{"input": "1 2\n", "output": "3\n"}]},
    ],
)
def test_shapes_of_ground_truths_are_judged_alike(service: str, truth: Any) -> None:
    with Client(service) as client:
        found = client.verify(json.dumps(truth), [RIGHT, "print(4)"])
    assert [verdict.status for verdict in found] == ["accepted", "wrong_answer"]


def test_shapes_with_functions_are_judged(service: str) -> None:
    add = "def add(a, b):\n    return a + b"
    truths = [
        {"inputs": [[1, 2]], "outputs": [3], "fn_name": "add"},
        ["assert add(1, 2) == 3", "assert add('a', 'b') == 'ab'"],
        {"test_list": ["assert add(1, 2) == 3"], "task_id": 5},
        {"prompt": "", "entry_point": "add", "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"},
    ]
    truths[3]["prompt"] = "# adds\n"  # type: ignore[call-overload]
    with Client(service) as client:
        for truth in truths:
            found = client.verify(json.dumps(truth), [{"program": add}, {"program": add + " + add(0, 0)"}])
            assert found[0].status == "accepted", (truth, found[0])
            assert found[1].status != "accepted"


def test_a_row_that_cannot_be_read_is_named_and_costs_no_other_its_verdict(service: str) -> None:
    with Client(service) as client:
        first, second, third = client.verify([SUM, Task("apps", {"input_output": "{}"}), {1, 2}], [RIGHT] * 3)
    assert first.accepted and second.fault is not None and third.fault is not None
    assert (second.reward, second.fault.kind, second.fault.field) == (None, "unreadable_task", "input_output.inputs")
    assert "missing" in second.fault.message and "cannot be sent" in third.fault.message


def test_an_unknown_format_refuses_the_request(service: str) -> None:
    with Client(service) as client, pytest.raises(Rejected, match="format"):
        client.verify(Task("nothing", {}), [RIGHT])


def test_a_deadline_is_a_fault_of_the_attempt(service: str) -> None:
    with Client(service) as client:
        (found,) = client.verify(SUM, ["while True: pass"], deadline=0.001)
    assert found.reward is None and found.fault is not None and found.fault.kind == "deadline"


@pytest.fixture
def local(binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A runtime folder of the test's own, for the real program."""
    monkeypatch.setenv("VERIPLAY_BIN", binary)
    monkeypatch.setenv("VERIPLAY_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.delenv("VERIPLAY_URL", raising=False)
    return tmp_path / "run"


def wait_for_end(pid: int, seconds: float) -> bool:
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], seconds)[0])
    finally:
        os.close(process)


def test_the_local_server_judges_survives_a_kill_and_ends(local: Path) -> None:
    server = LocalServer()
    with Client(endpoint=server, patience=60.0) as client:
        assert client.verify(SUM, [RIGHT])[0].accepted
        pid = server.pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert [v.status for v in client.verify(SUM, [f"# again\n{RIGHT}", WRONG])] == ["accepted", "wrong_answer"]
        second = server.pid()
        assert second is not None and second != pid
        server.release()
        assert wait_for_end(second, 30)


def test_a_server_that_is_killed_under_a_batch_loses_nothing(local: Path) -> None:
    server = LocalServer()
    numbered = [f"# {at}\n{RIGHT if at % 2 else WRONG}" for at in range(400)]
    with Client(endpoint=server, patience=60.0) as client:
        found: dict[int, str | None] = {}
        for index, verdict in client.stream([Attempt.program(SUM, program) for program in numbered]):
            assert index not in found
            found[index] = verdict.status
            if len(found) == 50:
                pid = server.pid()
                assert pid is not None
                os.kill(pid, signal.SIGKILL)
    assert [found[at] for at in range(400)] == ["accepted" if at % 2 else "wrong_answer" for at in range(400)]
    server.release()


def test_an_idle_server_ends(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIPLAY_IDLE_SECONDS", "1")
    server = LocalServer()
    with Client(endpoint=server, patience=60.0) as client:
        assert client.run("print(1)").stdout == "1\n"
    pid = server.pid()
    assert pid is not None and wait_for_end(pid, 60)


def test_the_package_needs_no_service_to_be_started(local: Path) -> None:
    script = "import veriplay\nprint(veriplay.run('print(6 * 7)').stdout, end='')"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    ran = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout == "42\n"


def test_a_program_without_serve_is_told(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERIPLAY_BIN", "/bin/false")
    with pytest.raises(LocalServerError, match="ended with code 1"):
        Verifier().run("print(1)") if LocalServer._shared is None else LocalServer().address()


def test_a_service_that_is_gone_is_no_verdict(local: Path) -> None:
    with pytest.raises(Unmeasured, match="unreachable"):
        Verifier("http://127.0.0.1:9", patience=0.0).run("print(1)")
    (verdict,) = Verifier("http://127.0.0.1:9", patience=0.0).measure(SUM, [RIGHT])
    assert verdict.reward is None
    assert veriplay.Conditions().seed == 0
