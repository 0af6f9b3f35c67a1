"""Judges programs by execution: isolated, metered, reproducible.

    >>> import veriplay
    >>> veriplay.run("print(6 * 7)").stdout
    '42\\n'
    >>> task = veriplay.Task.stdio([("1 2\\n", "3\\n")])
    >>> [verdict.status for verdict in veriplay.verify(task, ["print(sum(map(int, input().split())))", "print(4)"])]
    ['accepted', 'wrong_answer']

Functions for trainers are in modules of their names: :mod:`veriplay.verl`, :mod:`veriplay.trl`, :mod:`veriplay.openrlhf`,
:mod:`veriplay.verifiers`, :mod:`veriplay.skyrl`, :mod:`veriplay.inspect`. The nodes of a Ray cluster judge together: :mod:`veriplay.ray`. A
policy in your own trainer plays games: :mod:`veriplay.games`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._wire import Conditions
from .client import AsyncClient, Client
from .errors import Fault, LocalServerError, Rejected, ServerError, Unmeasured, VeriplayError
from .local import find_binary, stop_server
from .records import Attempt, Limits, Outcome, Task, Verdict
from .tasks import task_from
from .verifier import Verifier, shared_runner, shared_verifier

__all__ = [
    "AsyncClient",
    "Attempt",
    "Client",
    "Conditions",
    "Fault",
    "Limits",
    "LocalServerError",
    "Outcome",
    "Rejected",
    "ServerError",
    "Task",
    "Unmeasured",
    "VeriplayError",
    "Verdict",
    "Verifier",
    "find_binary",
    "run",
    "stop_server",
    "task_from",
    "verify",
]


def run(
    program: str,
    stdin: str | bytes = b"",
    *,
    files: Mapping[str, bytes] | None = None,
    call: str | None = None,
    arguments: Sequence[Any] = (),
    limits: Limits = Limits(),
    seed: int = 0,
) -> Outcome:
    """Runs one program, at ``VERIPLAY_URL`` or on the local server: see :meth:`Client.run`."""
    return shared_runner().run(program, stdin, files=files, call=call, arguments=arguments, limits=limits, seed=seed)


def verify(tasks: Any, attempts: Iterable[Any], **conditions: Any) -> list[Verdict]:
    """Judges attempts, at ``VERIPLAY_URL`` or on the local server: see :meth:`Client.verify`."""
    return shared_verifier().verify(tasks, attempts, **conditions)
