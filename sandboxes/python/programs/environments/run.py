"""The untrusted side's start: `runner` is the bytecode of `code.py`, which runs an executor's code."""

import marshal


def run(runner, code):
    names = {"__name__": "__main__"}
    exec(marshal.loads(runner), names)
    return names["run"](code)
