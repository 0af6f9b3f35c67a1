"""Runs programs for `veriplay bench` in one of its ways, named by the first argument. One JSON object a line, both ways.

First line out: {"ready": version}. A line in asks for one round: {"steps": [[program, prints]],
"ns": how long, "serial": first number}; `prints` is what the program must write, or null when only its end matters. The
answer: {"ns": [time of each job], "elapsed_ns": all of it, "wrong": null or what was wrong}. A job is all steps, one
after another. Each program gets a comment with a number of its own, as no two attempts are the same text.
"""

import json
import sys
from time import perf_counter_ns


def fork_way():
    """A fork of this warm interpreter for every program: fresh state, no isolation, no limit."""
    import gc
    import io
    import os

    gc.collect()
    gc.freeze()  # children need not copy the pages that the collector would write to

    def child(program, pipe):
        code = 1
        try:
            out = sys.stdout = io.StringIO()
            exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
            if pipe is not None:
                os.write(pipe, out.getvalue().encode())
            code = 0
        finally:
            os._exit(code)

    def run(program, prints):
        ends = (None, None) if prints is None else os.pipe()
        pid = os.fork()
        if pid == 0:
            child(program, ends[1])
        text = None
        if prints is not None:
            os.close(ends[1])
            with open(ends[0], "rb") as pipe:
                text = pipe.read().decode()
        status = os.waitpid(pid, 0)[1]
        return text if status == 0 else "!status %d" % status

    return run, sys.version.split()[0]


def pool_exec(program):
    """In the pool's worker: what the programs before this one did to modules and builtins is still there."""
    import contextlib
    import io

    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    except BaseException as error:
        return "!" + repr(error)
    return out.getvalue()


def pool_way():
    """A warm worker process that execs every program in itself, as Absolute Zero's executor with its one worker does."""
    import multiprocessing

    pool = multiprocessing.get_context("fork").Pool(processes=1)

    def run(program, prints):
        text = pool.apply(pool_exec, (program,))
        return None if prints is None and not text.startswith("!") else text

    return run, sys.version.split()[0]


WAYS = {"fork": fork_way, "pool": pool_way}


def one_job(run, steps, serial):
    """None, or the first thing that was wrong."""
    suffix = "\n# %08d" % serial
    for program, prints in steps:
        got = run(program + suffix, prints)
        if got != prints:
            return "%r instead of %r" % (got, prints)
    return None


def one_round(run, ask):
    steps, serial, times = ask["steps"], ask["serial"], []
    start = now = perf_counter_ns()
    while True:
        wrong = one_job(run, steps, serial + len(times))
        before, now = now, perf_counter_ns()
        times.append(now - before)
        if wrong is not None or now - start >= ask["ns"]:
            return {"ns": times, "elapsed_ns": now - start, "wrong": wrong}


def say(answer):
    print(json.dumps(answer), file=ANSWERS, flush=True)


def main():
    run, version = WAYS[sys.argv[1]]()
    say({"ready": version})
    for line in sys.stdin:
        say(one_round(run, json.loads(line)))


ANSWERS = sys.stdout
main()
