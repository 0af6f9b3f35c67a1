"""Runs programs on a peer of the scoreboard, and measures its speed, its answers under load, its memory, its fresh state and its limits."""

import contextlib
import itertools
import json
import math
import os
import select
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

# Rounds of each measurement of speed, the seconds of a peer's and of the reference's, and the least programs of a round.
ROUNDS, ROUND, REFERENCE_ROUND, LEAST = 3, 2.0, 0.7, 3
# Under load: programs at least and at most, and the seconds that they should take by the speed measured before.
LEAST_UNDER_LOAD, MOST_UNDER_LOAD, UNDER_LOAD_SECONDS = 64, 2048, 30.0
# Seconds that the start of a service may take, and its end.
START, END = 180, 5
# The most bytes of a program's output that are kept; the rest is read and dropped.
KEPT = 4 << 20
MEMORY = 256 << 20
NULL, PIPE = subprocess.DEVNULL, subprocess.PIPE
METERS = {"cpu": "CPU", "memory": "Memory", "fuel": "Fuel"}


class Unfit(Exception):
    """Why this machine cannot have a peer, or why nothing can be measured."""


def require(holds, why):
    if not holds:
        raise Unfit(why)


def fill(words, values):
    """The words of a command, with each `{name}` replaced by its value."""
    for name, value in values.items():
        words = [word.replace(f"{{{name}}}", str(value)) for word in words]
    return words


def last_line(text):
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")


class Limits(NamedTuple):
    """Seconds as the peer counts them, bytes, and the seconds that the caller waits. A small program does not meet the defaults."""

    seconds: int = 10
    memory: int = MEMORY
    patience: float = 120.0


class Answer(NamedTuple):
    """What a program printed, how it ended, why, and after how many seconds. It has `failed` by the peer's own account."""

    stdout: str
    ending: str  # "finished", "failed" or "unanswered"
    why: str = ""
    latency: float = 0.0

    def describe(self):
        said = {"finished": "it ran to its end", "failed": f"it was ended ({self.why})", "unanswered": f"nothing ended it ({self.why})"}
        return said[self.ending]


def kill_group(process, number):
    # It may have ended already.
    with contextlib.suppress(OSError):
        os.killpg(process.pid, number)


class Target:
    """A peer that is ready to run programs, its service started if it has one."""

    serial = itertools.count()

    def __init__(self, peer):
        self.command, self.service, self.port = fill(peer.argv, peer.words), None, None
        # Not one of `mkdtemp`, which others cannot read: a sandbox may run its program as another user.
        self.folder = Path(tempfile.gettempdir(), f"scoreboard-{os.getpid()}-{next(self.serial)}")
        self.folder.mkdir()
        started = time.perf_counter()
        try:
            if "service" in peer.definition:
                self.start_service(peer.arguments.out / "logs" / f"{peer.name}.log")
            self.await_first_answer(started)
        except BaseException:
            self.__exit__()
            raise
        self.start_seconds = time.perf_counter() - started

    def start_service(self, log):
        # A port that is free now; that it stays free until the service listens is likely, and a failure is seen.
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
        log.parent.mkdir(exist_ok=True)
        with log.open("wb") as out:
            self.service = subprocess.Popen(fill(self.command, {"port": self.port}), stdin=NULL, stdout=out, stderr=out, process_group=0)

    def await_first_answer(self, started):
        while True:
            with Client(self) as client:
                answer = client.run("print(6 * 7)\n")
            if answer.ending == "finished" and answer.stdout.strip() == "42":
                return
            what = f"it does not run a plain program: `print(6 * 7)` printed `{answer.stdout.strip()}`: {answer.describe()}"
            require(self.service, what)
            require(self.service.poll() is None, "its service ended at once; its log says why")
            require(time.perf_counter() - started < START, what)
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.service:
            kill_group(self.service, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.service.wait(END)
            kill_group(self.service, signal.SIGKILL)
            self.service.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Client:
    """One caller of a target: it runs one program at a time. Callers do not wait for one another."""

    serial = itertools.count()

    def __init__(self, target):
        self.target, self.folder, self.connection = target, target.folder / str(next(self.serial)), None
        self.folder.mkdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.disconnect()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, program, limits=Limits()):
        started = time.perf_counter()
        try:
            answer = self.ask(program, limits) if self.target.port else self.start(program, limits)
        except (OSError, ValueError, IndexError) as error:
            self.disconnect()
            answer = Answer("", "unanswered", str(error))
        return answer._replace(latency=time.perf_counter() - started)

    def start(self, program, limits):
        file = self.folder / "program.py"
        file.write_text(program)
        values = {"file": file, "dir": self.folder, "seconds": limits.seconds, "memory_bytes": limits.memory, "memory_mib": limits.memory >> 20}
        argv = fill(self.target.command, values)
        with subprocess.Popen(argv, cwd=self.folder, stdin=NULL, stdout=PIPE, stderr=NULL, bufsize=0, process_group=0) as child:
            stdout, is_whole = read_to_end(child.stdout, time.monotonic() + limits.patience)
            if not is_whole:
                kill_group(child, signal.SIGKILL)
        if not is_whole:
            return Answer(stdout, "unanswered", f"still running after {limits.patience:.0f} s")
        status = child.returncode
        why = f"exit status {status}" if status > 0 else f"signal {-status}"
        return Answer(stdout, "failed", why) if status else Answer(stdout, "finished")

    def ask(self, program, limits):
        body = {"code": program, "language": "python", "stdin": "", "files": {}, "fetch_files": [], "compile_timeout": limits.seconds}
        body |= {"run_timeout": limits.seconds, "memory_limit_MB": limits.memory >> 20}
        try:
            status, answer = self.post("/run_code", json.dumps(body).encode(), limits.patience)
        except TimeoutError as error:
            raise OSError(f"no answer in {limits.patience:.0f} s") from error
        return read_response(answer) if status == 200 else Answer("", "failed", f"HTTP status {status}")

    def post(self, path, body, patience):
        """Status and body of the answer, on a connection that is kept. `http.client` would take as long as the fastest sandboxes."""
        if not self.connection:
            self.connection = socket.create_connection(("127.0.0.1", self.target.port))
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.lines = self.connection.makefile("rb")
        self.connection.settimeout(patience)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.connection.sendall(head.encode() + body)
        first, length = self.lines.readline().split(b" ", 2), 0
        if first[0] != b"HTTP/1.1":
            raise ConnectionError(f"the answer is no HTTP/1.1: {first}")
        while line := self.lines.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        answer = self.lines.read(length)
        if not length or len(answer) < length:
            raise ConnectionError(f"{len(answer)} of {length} bytes of an answer came")
        return int(first[1]), answer

    def disconnect(self):
        if self.connection:
            self.lines.close()
            self.connection.close()
            self.connection = None


def read_to_end(stream, deadline):
    """What comes from a pipe, and whether its end came before the deadline. A thread would be a part of what is measured."""
    poll, kept = select.poll(), bytearray()
    poll.register(stream, select.POLLIN)
    while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        chunk = stream.read(1 << 16)
        if not chunk:
            return kept.decode(errors="replace"), True
        kept += chunk[: KEPT - len(kept)]
    return kept.decode(errors="replace"), False


def read_response(text):
    try:
        response = json.loads(text)
        result = response["run_result"] or {"status": response["status"], "return_code": None}
        stdout, code = result.get("stdout") or "", result["return_code"]
        if response["status"] == "Success" and code == 0:
            return Answer(stdout, "finished")
        return Answer(stdout, "failed", result["status"] if code is None else f"exit code {code}")
    except (ValueError, LookupError, TypeError) as error:
        return Answer("", "failed", f"its answer is not of the protocol: {error!r}")


# --- Speed, right answers under load, and memory ---

# What every subset of Python has.
NUMBERED = """def score(values, weight):
    total = 0
    for value in values:
        if value > 0:
            total = total + value * weight
    return total

print(score([3, -1, 4, 1, -5, 9], {}))
"""
# Some 20 seconds of a native interpreter.
COUNTS = "i = 0\nwhile i < 400000000:\n    i = i + 1\nprint('done')\n"
serials = itertools.count(1_000_003)


def numbered_program():
    """A program that no other run has, and what it must print."""
    serial = next(serials)
    return NUMBERED.format(serial), str(17 * serial)


def is_right(answer, expected):
    return answer.ending == "finished" and answer.stdout.rstrip("\n") == expected


def call_at_once(callers, call):
    """Calls in that many threads, and returns all that they list."""
    with ThreadPoolExecutor(callers) as pool:
        return [found for calls in [pool.submit(call) for _ in range(callers)] for found in calls.result()]


def run_round(target, callers, seconds):
    """Pairs of answers and what they had to be, of programs one after another by each caller; and programs a second."""
    started = time.perf_counter()

    def call():
        found = []
        with Client(target) as client:
            while time.perf_counter() - started < seconds or len(found) * callers < LEAST:
                program, expected = numbered_program()
                found.append((client.run(program), expected))
        return found

    found = call_at_once(callers, call)
    return found, len(found) / (time.perf_counter() - started)


def speed(target, reference, callers):
    """Programs a second with this many callers, as medians over rounds, in turns with the reference."""
    found, rates, ratios = [], [], []
    for _ in range(ROUNDS):
        answers, rate = run_round(target, callers, ROUND)
        found += answers
        rates.append(rate)
        ratios.append(run_round(reference, callers, REFERENCE_ROUND)[1] / rate)
    latencies, middle = sorted(answer.latency * 1e6 for answer, _ in found), statistics.median(rates)
    return {
        "programs_per_second": middle,
        "reference_ratio": statistics.median(ratios),
        "spread_percent": 100.0 * (max(rates) - min(rates)) / middle,
        "programs": len(latencies),
        "not_right": sum(not is_right(answer, expected) for answer, expected in found),
        "p50_us": percentile(latencies, 0.5),
        # Of fewer than 100, the longest.
        "p99_us": percentile(latencies, 0.99 if len(latencies) >= 100 else 1.0),
    }


def percentile(ordered, share):
    """The nearest rank."""
    return ordered[max(1, math.ceil(len(ordered) * share)) - 1]


def under_load(target, in_flight, programs_per_second):
    """Runs programs with known answers, many at once, and counts what came back."""
    programs = min(max(int(programs_per_second * UNDER_LOAD_SECONDS), LEAST_UNDER_LOAD), MOST_UNDER_LOAD)
    taken, started = itertools.count(), time.perf_counter()

    def call():
        found = []
        with Client(target) as client:
            while next(taken) < programs:
                program, expected = numbered_program()
                found.append((client.run(program), expected))
        return found

    counts = count_answers(call_at_once(in_flight, call))
    return {"in_flight": in_flight, "programs": programs} | counts | {"seconds": time.perf_counter() - started}


def count_answers(found):
    """How many are right and how many are not, by kind, with an example. A `wrong` one claims success: the worst kind."""
    counts = {"right": 0, "wrong": 0, "failed": 0, "unanswered": 0, "example": None}
    for answer, expected in found:
        kind = "right" if is_right(answer, expected) else "wrong" if answer.ending == "finished" else answer.ending
        counts[kind] += 1
        if kind != "right" and not counts["example"]:
            counts["example"] = answer.why or f"success, and `{answer.stdout.rstrip()}` instead of `{expected}`"
    return counts


def memory(target, reference):
    """MiB of resident memory (proportional set size) of an idle service, and of each of two programs that compute, beyond that."""

    def resident():
        if target.service:
            return resident_mib(target.service.pid)
        return resident_mib(os.getpid(), reference.service.pid) - pss_kib(os.getpid()) / 1024

    def call():
        with Client(target) as client:
            return client.run(COUNTS, Limits(seconds=4, patience=6.0))

    peak = idle = resident()
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(call) for _ in range(2)]
        while not all(one.done() for one in calls):
            peak = max(peak, resident())
            time.sleep(0.05)
    return {"idle_mib": idle if target.service else 0.0, "per_program_mib": (peak - idle) / 2}


def resident_mib(root, excluded=None):
    """The proportional set size of a process and its descendants, without those below `excluded`."""
    children = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            children.setdefault(parent_in((entry / "stat").read_text(errors="replace")), []).append(int(entry.name))
    todo, kib = [root], 0
    while todo:
        pid = todo.pop()
        if pid != excluded:
            kib += pss_kib(pid)
            todo += children.get(pid, [])
    return kib / 1024


def parent_in(stat):
    """The parent in a line of `/proc/PID/stat`. The name before it may hold anything."""
    return int(stat.rpartition(")")[2].split()[1])


def pss_kib(pid):
    # It may have ended already.
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return 0


# --- What one program leaves to the next, and which limits hold ---

ABSENT = "else:\n    print('absent')\n"
FILE = "import os, tempfile\npath = os.path.join(tempfile.gettempdir(), 'scoreboard-leftover')\n"
# What a program may leave, one that leaves it, and one that looks for it. A peer that cannot run the first runs nothing.
TRACES = {
    "a global variable": ("leftover = 1\n", "try:\n    leftover\n    print('found')\nexcept NameError:\n    print('absent')\n"),
    "an attribute of a module": (
        "import math\nmath.leftover = 1\n",
        "import math\nif hasattr(math, 'leftover'):\n    print('found')\n" + ABSENT,
    ),
    "a builtin": (
        "import builtins\nbuiltins.leftover = 1\n",
        "import builtins\nif hasattr(builtins, 'leftover'):\n    print('found')\n" + ABSENT,
    ),
    "a temporary file": (
        FILE + "open(path, 'w').write('1')\n",
        FILE + "if os.path.exists(path):\n    os.remove(path)\n    print('found')\n" + ABSENT,
    ),
}
# More often than a pool has workers on a small machine.
TRACE_RUNS = 4


def check_fresh_state(target):
    """What later programs found, did not find, or could not look for, as the peer's Python has nothing of the kind."""
    state = {"found": [], "absent": [], "unavailable": []}
    for what, (leave, look) in TRACES.items():
        with Client(target) as client:
            for _ in range(TRACE_RUNS):
                client.run(leave)
            looks = {client.run(look).stdout.strip() for _ in range(TRACE_RUNS)}
        kind = "found" if "found" in looks else "absent" if looks == {"absent"} else "unavailable"
        state[kind].append(what)
    require("a global variable" not in state["unavailable"], "a program that looks for a global variable does not run")
    return state


def check_limits(target):
    cpu = check_cpu_limit(target)
    fuel = check_fuel_limit(target) if cpu["holds"] else {"holds": False, "evidence": "nothing limits its time"}
    return {"cpu": cpu, "memory": check_memory_limit(target), "fuel": fuel}


def run_limited(target, program, seconds):
    with Client(target) as client:
        return client.run(program, Limits(seconds, MEMORY, patience=15.0))


def check_cpu_limit(target):
    """A program that computes for much longer than its limit is ended."""
    answer = run_limited(target, COUNTS, 1)
    evidence = f"{answer.describe()} after {answer.latency:.1f} s, of 1 s allowed"
    return {"holds": answer.ending == "failed" and "done" not in answer.stdout, "evidence": evidence}


def check_memory_limit(target):
    """A program that takes more memory than its limit does not get it."""
    program = "kept = []\nfor i in range(384):\n    kept.append('x' * 1048576)\nprint('kept', len(kept))\n"
    answer = run_limited(target, program, 10)
    got = "kept 384" in answer.stdout
    evidence = f"it {'got' if got else 'did not get'} 384 MiB of 256 MiB allowed; {answer.describe()}"
    return {"holds": answer.ending == "failed" and not got, "evidence": evidence}


def check_fuel_limit(target):
    """A program that meets its limit of time gets equally far each time."""
    program = "i = 0\nwhile True:\n    i = i + 1\n    if i % 20000 == 0:\n        print(i, flush=True)\n"
    reached = []
    for _ in range(3):
        answer = run_limited(target, program, 1)
        # What follows the last newline may be a part of a number.
        last = last_line(answer.stdout.rpartition("\n")[0])
        if answer.ending != "failed" or not last:
            return {"holds": False, "evidence": f"{answer.describe()}, and its last line is `{last}`"}
        reached.append(last)
    return {"holds": len(set(reached)) == 1, "evidence": f"three runs reached {', '.join(reached)}"}
