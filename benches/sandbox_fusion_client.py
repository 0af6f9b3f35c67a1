"""Loads a SandboxFusion service through its own client, sandbox-fusion 0.3.7 as it is installed, with programs whose answers are known.

    python benches/sandbox_fusion_client.py --url http://127.0.0.1:8080 --requests 2000 --in-flight 256
    python benches/sandbox_fusion_client.py --url http://127.0.0.1:8080 --languages cpp,nodejs    # `veriplay serve --languages cpp,javascript`

All programs are different. In C++ and JavaScript, of 20 programs one does not compile, one runs until its time limit, one ends with a status of
its own and one with an uncaught exception. Prints requests a second, answers that were wrong (another status, exit code or output than the
program has), requests that failed or got no answer after the client's own retries, and latencies. `veriplay bench serve` is faster, and so
measures a fast service better.

A service answers 504 where a request has waited for as long as its time limits and 8 seconds. Where the queue is longer, give `serve` a small
`--fuel-per-second`, so that long limits are short ones: `--fuel-per-second 1e7` with `--timeouts 280 280 --endless-seconds 280`.
"""

import argparse
import asyncio
import collections
import dataclasses
import json
import time

from sandbox_fusion import RunCodeRequest, RunCodeResponse, RunStatus, run_code_async, set_endpoint

#: The programs, with `@` for a number that no other program has and `#` for what goes wrong. Each prints the same as `printed`.
SORTED = {
    "cpp": """#include <bits/stdc++.h>
using namespace std;
int main() {
    map<long long, int> counts;
    long long n, seed = @;
    cin >> n;
    for (int i = 0; i < n; i++) seed = (seed * 1103 + 12345) % 10007, counts[seed % 100]++;
    vector<pair<int, long long>> order;
    for (auto [value, count] : counts) order.push_back({-count, value});
    sort(order.begin(), order.end());
    for (int i = 0; i < 3; i++) cout << order[i].second << ":" << -order[i].first << " ";
    cout << @ << endl;
    #
}
""",
    "nodejs": """const n = Number(require("fs").readFileSync(0, "utf8"));
const counts = new Map();
let seed = @;
for (let i = 0; i < n; i++) {
  seed = (seed * 1103 + 12345) % 10007;
  counts.set(seed % 100, (counts.get(seed % 100) ?? 0) + 1);
}
const order = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
console.log(order.slice(0, 3).map(([value, count]) => `${value}:${count} `).join("") + @);
#
""",
}
#: What goes wrong, in each language.
FAULTS = {
    "refused": {"cpp": "undeclared = @;", "nodejs": "let let = @;"},
    "endless": {"cpp": "for (volatile int i = 0;; i = i + 1) {}", "nodejs": "for (;;) {}"},
    "status": {"cpp": "return 3;", "nodejs": "process.exit(3);"},
    "thrown": {"cpp": "throw runtime_error(\"@\");", "nodejs": "throw new Error(\"@\");"},
}  # fmt: skip
RETURN_CODES = {"status": {"cpp": 3, "nodejs": 3}, "thrown": {"cpp": 134, "nodejs": 1}}


@dataclasses.dataclass
class Case:
    """A program, and the status, exit code and output with which it ends; output may be lost that a time limit finds in a buffer."""

    request: RunCodeRequest
    phase: str = "run_result"
    status: str = "Finished"
    return_code: int | None = 0
    stdout: str | None = ""

    def matches(self, response: RunCodeResponse) -> bool:
        """Whether this is how the program ends."""
        ended = getattr(response, self.phase)
        is_success = (response.status == RunStatus.Success) == (self.return_code == 0)
        if not ended or not is_success or (ended.status, ended.return_code) != (self.status, self.return_code):
            return False
        return self.stdout is None or (ended.stdout or "").strip() == self.stdout


def printed(number, turns):
    """What the programs of `SORTED` print for `turns` on standard input."""
    counts, seed = collections.Counter(), number
    for _ in range(turns):
        seed = (seed * 1103 + 12345) % 10007
        counts[seed % 100] += 1
    order = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return "".join(f"{value}:{count} " for value, count in order[:3]) + str(number)


def python_case(number):
    """A program that no cache has seen."""
    left, right = number * 37 + 11, number * 101 + 7
    code = f"def f(x, y):\n    return x * y + {number}\nprint(f({left}, {right}))"
    return Case(RunCodeRequest(code=code, language="python"), stdout=str(left * right + number))


def case(language, number, timeouts, endless_seconds):
    """Program `number` in this language."""
    if language == "python":
        return python_case(number)
    fault = dict(enumerate(FAULTS)).get(number % 20)
    line = FAULTS[fault][language] if fault else ""
    code = SORTED[language].replace("#\n}", line + "\n}").replace("\n#\n", f"\n{line}\n").replace("@", str(number))
    turns = 200 + number % 300
    compile_timeout, run_timeout = timeouts
    if fault == "endless":
        run_timeout, compile_timeout = endless_seconds, compile_timeout if language == "cpp" else endless_seconds
    fields = {"stdin": f"{turns}\n", "compile_timeout": compile_timeout, "run_timeout": run_timeout}
    request, stdout = RunCodeRequest(code=code, language=language, **fields), printed(number, turns)
    if fault == "refused":
        return Case(request, "compile_result" if language == "cpp" else "run_result", return_code=1)
    if fault == "endless":
        return Case(request, status="TimeLimitExceeded", return_code=None, stdout=None)
    return Case(request, return_code=RETURN_CODES[fault][language] if fault else 0, stdout=stdout)


async def answer(wanted, client_timeout):
    """`right`, `wrong`, or why there is no answer."""
    try:
        response = await run_code_async(wanted.request, client_timeout=client_timeout)
    except Exception as error:  # whatever the client raises after its retries is a request without an answer
        return f"{type(error).__name__}: {error}"[:80]
    if wanted.matches(response):
        return "right"
    print("wrong:", wanted, response, flush=True)
    return "wrong"


async def load(cases, in_flight, client_timeout):
    """The answers, their sorted latencies, and the seconds of all of it."""
    gate, answers, latencies = asyncio.Semaphore(in_flight), [], []

    async def one(wanted):
        async with gate:
            begun = time.perf_counter()
            answers.append(await answer(wanted, client_timeout))
            latencies.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    await asyncio.gather(*(one(wanted) for wanted in cases))
    return answers, sorted(latencies), time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--languages", default="python", help="python, cpp, nodejs, in turns")
    parser.add_argument("--timeouts", type=float, nargs=2, default=(10, 10), help="of the compiler and of the run, in seconds")
    parser.add_argument("--endless-seconds", type=float, default=0.2, help="time limit of programs without an end")
    parser.add_argument("--client-timeout", type=float, default=120, help="seconds that the client waits for an answer")
    arguments = parser.parse_args()
    set_endpoint(arguments.url)
    languages = arguments.languages.split(",")
    turns = range(arguments.requests)
    limits = (arguments.timeouts, arguments.endless_seconds)
    cases = [case(languages[at % len(languages)], at // len(languages), *limits) for at in turns]
    answers, latencies, seconds = asyncio.run(load(cases, arguments.in_flight, arguments.client_timeout))
    failures = [answer for answer in answers if answer not in ("right", "wrong")]
    print(json.dumps({
        "url": arguments.url,
        "languages": languages,
        "requests": arguments.requests,
        "in_flight": arguments.in_flight,
        "seconds": round(seconds, 1),
        "per_second": round(arguments.requests / seconds, 1),
        "right": answers.count("right"),
        "wrong": answers.count("wrong"),
        "failed": {kind: failures.count(kind) for kind in sorted(set(failures))},
        "p50_s": round(latencies[len(latencies) // 2], 3),
        "p99_s": round(latencies[int(len(latencies) * 0.99)], 3),
    }))


if __name__ == "__main__":
    main()
