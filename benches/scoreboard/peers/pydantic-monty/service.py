"""pydantic-monty behind `POST /run_code`: a session of its pool for each program."""

import sys
from pathlib import Path

import pydantic_monty

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from run_code import Ending, serve


def run(pool, request):
    lines = iter(request.stdin.splitlines())
    out = pydantic_monty.CollectString()
    limits = {"max_feed_duration_secs": request.seconds, "max_memory": request.memory_bytes}
    try:
        with pool.checkout(limits=limits) as session:
            session.feed_run(request.program, print_callback=out, external_lookup={"input": lambda: next(lines)})
    except pydantic_monty.MontyError as error:
        code = None if "TimeoutError" in str(error) else 1
        return Ending(out.output, str(error), code)
    return Ending(out.output, "", 0)


def main():
    with pydantic_monty.Monty() as pool:
        serve(int(sys.argv[1]), lambda request: run(pool, request))


main()
