"""Loads a SandboxFusion service through its own client, sandbox-fusion 0.3.7 as it is installed, with programs whose answers are known.

    python benches/sandbox_fusion_client.py --url http://127.0.0.1:8080 --requests 2000 --in-flight 256

Prints requests a second, answers that were wrong (reported as a success with another output), requests that failed or got no answer after the
client's own retries, and latencies. `veriplay bench serve` is faster, and so measures a fast service better.
"""

import argparse
import asyncio
import json
import time

from sandbox_fusion import RunCodeRequest, RunStatus, run_code_async, set_endpoint


def program(index):
    """A program that no cache has seen, and what it prints."""
    left, right = index * 37 + 11, index * 101 + 7
    return f"def f(x, y):\n    return x * y + {index}\nprint(f({left}, {right}))", str(left * right + index)


async def answer(index):
    """`right`, `wrong`, or why there is no answer."""
    code, expected = program(index)
    try:
        response = await run_code_async(RunCodeRequest(code=code, language="python"), client_timeout=120)
    except Exception as error:  # whatever the client raises after its retries is a request without an answer
        return type(error).__name__
    if response.status != RunStatus.Success or response.run_result is None:
        return str(response.status)
    return "right" if (response.run_result.stdout or "").strip() == expected else "wrong"


async def load(requests, in_flight):
    gate, answers, latencies = asyncio.Semaphore(in_flight), [], []

    async def one(index):
        async with gate:
            begun = time.perf_counter()
            answers.append(await answer(index))
            latencies.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    await asyncio.gather(*(one(index) for index in range(requests)))
    return answers, sorted(latencies), time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, default=256)
    arguments = parser.parse_args()
    set_endpoint(arguments.url)
    answers, latencies, seconds = asyncio.run(load(arguments.requests, arguments.in_flight))
    failures = [answer for answer in answers if answer not in ("right", "wrong")]
    print(json.dumps({
        "url": arguments.url,
        "requests": arguments.requests,
        "in_flight": arguments.in_flight,
        "per_second": round(arguments.requests / seconds, 1),
        "right": answers.count("right"),
        "wrong": answers.count("wrong"),
        "failed": {kind: failures.count(kind) for kind in sorted(set(failures))},
        "p50_s": round(latencies[len(latencies) // 2], 3),
        "p99_s": round(latencies[int(len(latencies) * 0.99)], 3),
    }))


if __name__ == "__main__":
    main()
