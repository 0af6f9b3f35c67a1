"""RestrictedPython behind `POST /run_code`, with the policy that its documentation builds up."""

import operator
import sys
from pathlib import Path

from RestrictedPython import compile_restricted, limited_builtins, safe_builtins, utility_builtins
from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
from RestrictedPython.Guards import full_write_guard, guarded_iter_unpack_sequence, guarded_unpack_sequence, safer_getattr

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from run_code import Ending, serve

IN_PLACE = {"+=": operator.iadd, "-=": operator.isub, "*=": operator.imul, "//=": operator.ifloordiv, "%=": operator.imod}


class Collector:
    """What a program prints, in all its scopes."""

    def __init__(self):
        self.pieces = []

    def __call__(self, _getattr_=None):
        return self

    def write(self, text):
        self.pieces.append(text)

    def flush(self):
        pass

    def _call_print(self, *values, **options):
        options.setdefault("file", self)
        print(*values, **options)


def run(request):
    lines = iter(request.stdin.splitlines())
    out = Collector()
    scope = {
        "__builtins__": {**safe_builtins, **limited_builtins, **utility_builtins, "input": lambda: next(lines)},
        "__name__": "__main__",
        "__metaclass__": type,
        "_print_": out,
        "_getattr_": safer_getattr,
        "_getitem_": default_guarded_getitem,
        "_getiter_": default_guarded_getiter,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_write_": full_write_guard,
        "_inplacevar_": lambda how, left, right: IN_PLACE[how](left, right),
    }
    try:
        exec(compile_restricted(request.program, "<program>", "exec"), scope)
    except BaseException as error:  # whatever a program raises is its own failure
        return Ending("".join(out.pieces), repr(error), 1)
    return Ending("".join(out.pieces), "", 0)


serve(int(sys.argv[1]), run)
