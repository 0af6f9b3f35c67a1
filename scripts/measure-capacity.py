#!/usr/bin/env python3
"""Measures what `scripts/capacity.py` computes with, on this machine, and writes it to `scripts/capacity.json`.

    python3 scripts/measure-capacity.py --binary FILE --data FOLDER [--out FILE]

FILE is the program, and FOLDER has HumanEval.jsonl.gz. Without the package Ray the costs of its calls are left as they were. Run it on an idle
machine: the load is written beside the numbers. No program or task is written, only how long they took.
"""

import argparse
import contextlib
import gzip
import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from veriplay import Attempt, Client, Conditions, Task, Verdict  # noqa: E402
from veriplay._dispatch import Dispatcher, Item, Reply  # noqa: E402

#: Programs that read a number and more from standard input, with ten cases each: what competitive tasks are like.
STDIO = {
    "sums": ("n = int(input())\nprint(sum(i * i % 7 for i in range(n)))", lambda n: sum(i * i % 7 for i in range(n))),
    "sieve": (
        "n = int(input())\ns = [True] * (n + 1)\nfor i in range(2, n + 1):\n    for j in range(2 * i, n + 1, i):\n"
        "        s[j] = False\nprint(sum(s[2:]))",
        lambda n: sum(all(k % d for d in range(2, int(k**0.5) + 1)) for k in range(2, n + 1)),
    ),
    "words": (
        "n = int(input())\nw = [str(i * 7919 % 1000) for i in range(n)]\nprint(max(sorted(w), key=w.count))",
        lambda n: max(sorted(w := [str(i * 7919 % 1000) for i in range(n)]), key=w.count),
    ),
    "paths": (
        "n = int(input())\nd = [1] + [0] * n\nfor c in (1, 5, 10, 25):\n    for i in range(c, n + 1):\n"
        "        d[i] += d[i - c]\nprint(d[n])",
        lambda n: sum(
            (n - 10 * a - 25 * b) // 5 + 1 for b in range(n // 25 + 1) for a in range((n - 25 * b) // 10 + 1)
        ),
    ),
}
CASES = (1, 2, 10, 50, 100, 200, 300, 500, 700, 1000)


@contextlib.contextmanager
def service(binary, workers):
    """A service without a cache: its address and its process."""
    command = [binary, "serve", "--addr", "127.0.0.1:0", "--workers", str(workers), "--no-cache"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            # The client waits for a service that starts.
            Client(url).info()
            yield url, server.pid
        finally:
            server.terminate()


def processor_seconds(server):
    """What the service and its workers have used, as the scheduler counts it: a busy machine adds little to it."""
    processes, found = [server], 0
    while processes:
        process = processes.pop()
        for task in Path(f"/proc/{process}/task").iterdir():
            found += int((task / "schedstat").read_text().split()[0])
            processes += (task / "children").read_text().split()
    return found / 1e9


def measure_attempts(url, server, attempts):
    """For each attempt the processor's seconds, the clock's and the fuel; and the last verdict."""
    client, used, took, fuel = Client(url), [], [], []
    client.verify([attempts[0].task], [attempts[0]])
    for attempt in attempts:
        before, started = processor_seconds(server), time.perf_counter()
        verdict = client.verify([attempt.task], [attempt])[0]
        took.append(time.perf_counter() - started)
        used.append(processor_seconds(server) - before)
        assert verdict.measured, verdict
        fuel.append(verdict.fuel)
    return used, took, fuel, verdict.status


def populations(data):
    rows = [json.loads(line) for line in gzip.open(data / "HumanEval.jsonl.gz", "rt")]
    tasks = [Task("humaneval", row) for row in rows]

    def attempts(body):
        return [Attempt.program(task, row["prompt"] + body(row)) for task, row in zip(tasks, rows)]

    stdio = []
    for program, solve in STDIO.values():
        cases = [(f"{n}\n", f"{solve(n)}\n") for n in CASES]
        stdio += [Attempt.program(Task.stdio(cases), program + f"\n# {copy}") for copy in range(25)]
    return {
        "humaneval, right": attempts(lambda row: row["canonical_solution"]),
        "humaneval, wrong": attempts(lambda row: "    return None\n"),
        "ten cases of standard input": stdio,
        "endless loop": attempts(lambda row: "    x = 1\n    while True:\n        x = (31 * x + 7) % 1000003\n")[:5],
    }


def quantiles(values, count=101):
    """The distribution as values at equal steps of probability, with three digits."""
    ordered = sorted(values)
    at = [step * (len(ordered) - 1) / (count - 1) for step in range(count)]
    between = [
        ordered[int(x)] + (x - int(x)) * (ordered[min(int(x) + 1, len(ordered) - 1)] - ordered[int(x)]) for x in at
    ]
    return [digits(value) for value in between]


def digits(value):
    return float(f"{value:.3g}")


def measure_requests(url, count=500):
    """Seconds of a client's processor for a request to `/run_code` on a connection of its own, as the clients of verl make it."""
    address = url.removeprefix("http://")
    body = json.dumps({"code": "print(1)", "language": "python"})
    started = time.process_time()
    for _ in range(count):
        connection = http.client.HTTPConnection(address)
        connection.request("POST", "/run_code", body, {"Content-Type": "application/json"})
        assert json.loads(connection.getresponse().read())["run_result"]["stdout"] == "1\n"
        connection.close()
    return (time.process_time() - started) / count


def measure_pool(nodes, rounds=200):
    """Seconds of a pool's thread for one turn, in which one node of many has a free place."""
    dispatcher, plain, task = Dispatcher(4, 512, 600.0), Conditions(), Task.stdio([("1", "1")])
    dispatcher.submit([Item(Attempt(task, str(at)), plain) for at in range(8 * nodes + rounds)], 0.0)
    dispatcher.see({str(node): str(node) for node in range(nodes)}, 0.0)
    for worker in dispatcher.starts(0.0):
        dispatcher.started(worker, "", 0.0)
    waiting, right, found = dispatcher.batches(0.0), Verdict("accepted", 1, 1), []
    for batch in waiting[:rounds]:
        started = time.thread_time()
        dispatcher.answered(batch, Reply({index: right for index in range(len(batch.items))}), 1.0)
        (
            dispatcher.busy,
            dispatcher.starts(1.0),
            dispatcher.batches(1.0),
            dispatcher.give_up(1.0),
            dispatcher.next_rest(1.0),
        )
        found.append(time.thread_time() - started)
    return statistics.median(found)


def measure_ray(data, count=200):
    """Seconds of the driver's processor for a call of an actor without attempts, and for each attempt and its verdict."""
    import ray

    rows = [json.loads(line) for line in gzip.open(data / "HumanEval.jsonl.gz", "rt")]
    verdict = Verdict(
        "accepted", 1, 1, 10**8, {"jobs": [{"trust": "split", "status": "returned", "fuel": 10**8}] * 2}, "0" * 64
    )

    @ray.remote
    class Echo:
        def judge(self, attempts, conditions):
            return Reply({index: verdict for index in range(len(attempts))})

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT / "python")}},
    )
    actor, costs = Echo.options(num_cpus=0, max_concurrency=32).remote(), {}
    for size in (1, 64):
        batch = [Attempt.program(Task("humaneval", row), row["canonical_solution"]) for row in rows[:size]]
        ray.get(actor.judge.remote(batch, Conditions()))
        rounds = []
        for _ in range(5):
            started = time.process_time()
            # Many are under way at once, as a pool's are.
            for answer in [actor.judge.remote(batch, Conditions()).future() for _ in range(count)]:
                answer.result()
            rounds.append((time.process_time() - started) / count)
        costs[size] = statistics.median(rounds)
    ray.shutdown()
    attempt = (costs[64] - costs[1]) / 63
    return costs[1] - attempt, attempt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("capacity.json"))
    options = parser.parse_args()
    old = json.loads(options.out.read_text()) if options.out.exists() else {}
    load_before = os.getloadavg()[0]
    found = {"service": {}, "request": {}, "pool": {}}
    with service(options.binary, 1) as (url, server):
        for name, attempts in populations(options.data).items():
            used, took, fuel, status = measure_attempts(url, server, attempts)
            found["service"][name] = {
                "attempts": len(used),
                "last_status": status,
                "mean_seconds": digits(statistics.mean(used)),
                "mean_elapsed_seconds": digits(statistics.mean(took)),
                "mean_fuel": round(statistics.mean(fuel)),
                "seconds": quantiles(used),
            }
    with service(options.binary, os.cpu_count()) as (url, _):
        command = [
            options.binary,
            "bench",
            "serve",
            "--url",
            url,
            "--new-connections",
            "--requests",
            "4000",
            "--in-flight",
            "64",
        ]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        found["request"]["bench_serve"] = [line for line in lines[1:] if line]
        found["request"]["new_connection_seconds"] = digits(measure_requests(url))
    found["pool"]["turn_seconds"] = {str(nodes): digits(measure_pool(nodes)) for nodes in (10, 100, 1000)}
    try:
        call, attempt = measure_ray(options.data)
        found["pool"] |= {"call_seconds": digits(call), "attempt_seconds": digits(attempt)}
    except ImportError:
        found["pool"] = {**old.get("pool", {}), **found["pool"]}
    model = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    found["machine"] = {
        "processor": f"{os.cpu_count()} × {model}",
        "load_before": load_before,
        "load_after": os.getloadavg()[0],
        "version": subprocess.run([options.binary, "--version"], capture_output=True, text=True).stdout.strip(),
    }
    options.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
